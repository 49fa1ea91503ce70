import { parseCode } from '../../../credentials/code-text.ts';
import { lockAnswer, useAnswer } from '../../../db/authorization/authorization-answer.ts';
import type { IssuedTokens } from '../../../db/authorization/authorization-answer.ts';
import type { FoundCode } from '../../../db/authorization/code-statements.ts';
import { insertSession } from '../../../db/session/session.ts';
import type { Connection } from '../../../db/core/transaction.ts';
import type { ClientState } from '../../../state/box-state.ts';
import { BOXGATE_SCOPE } from '../../../state/requestable-scopes.ts';
import { planForm, planGrantedToken } from '../plan.ts';
import type { AccessTokenPlan, PlanContext } from '../plan.ts';
import { askedIn } from '../asked.ts';
import { authenticateClient, namedClient } from '../../client-auth/authenticate-client.ts';
import { judgeCode } from '../../authorization/judge-code.ts';
import type { PresentedCode } from '../../authorization/judge-code.ts';
import { storeTokenFamily } from '../../refresh/create-token-family.ts';
import { mustAuthenticateForCode } from '../../client-auth/confidential.ts';
import { endTokens } from '../../session/end-tokens.ts';
import { keyFor } from '../../keys/key-needed.ts';
import { makeToken } from '../access-token.ts';
import type { MadeAccessToken } from '../access-token.ts';
import { notAuthenticated } from '../../not-authenticated.ts';
import { OAuthError } from '../../oauth-error.ts';
import { asksForIdToken, idTokenKeyFor, makeIdToken } from '../../openid/id-token.ts';
import { refreshSettings } from '../../refresh/settings.ts';
import { hasRoom, tooManySessions } from '../session-limit.ts';
import { tokenResponse } from '../response.ts';
import type { Grant, GrantContext, TokenRequest } from './grant.ts';
import { redeemCodeBatched } from './redeem-code-batched.ts';

/** The authorization code grant, RFC 6749 §4.1.3, with PKCE (RFC 7636). */
export const authorizationCode: Grant = {
  name: 'authorization_code',
  async handle(request, context) {
    const { state, transaction, services } = context;
    const client = await redeemingClient(request, context);
    const presented = presentedCode(request, client);
    const settings = client.client.auth?.authorization_code ?? {};
    const now = services.now();
    const key = keyFor(state, planForm(settings, state.settings), now);
    const issuer = services.issuer(state);
    const make = (answer: FoundCode): Issued => {
      const plan = plannedFor(answer, request, {
        settings,
        scopes: client.scopes,
        box: state.settings,
        issuer,
        subject: 'user',
      });
      const idKey = asksForIdToken(plan.scope) ? idTokenKeyFor(state, client.client, now) : null;
      const { user, userAgent } = answer;
      const holder = { client: client.client.id, user, type: 'a', remoteAddr: request.remoteAddr, userAgent } as const;
      const made = makeToken(state, holder, plan, key, issuer, now);
      const facts = { ...answer, issuer, accessToken: made.text };
      return { plan, scope: answer.scope, made, idToken: idKey === null ? undefined : makeIdToken(facts, idKey, now) };
    };
    const issued =
      (await redeemCodeBatched({ presented, context, make, now })) ??
      (await transaction((connection) => redeem(connection, presented, context, make, now)));
    if (issued === 'refused') throw notValid();
    if (issued === 'full') throw tooManySessions();
    return tokenResponse(issued.made.text, issued.plan, knownScope(issued.scope), issued);
  },
};

/** Returns the scope for the response (§5.1): a client knows what it requested, but maybe not the default scope. */
function knownScope(granted: string | null): string | undefined {
  return granted === BOXGATE_SCOPE ? undefined : (granted ?? undefined);
}

interface Issued {
  readonly plan: AccessTokenPlan;
  /** The scope and audience that were granted with the code. */
  readonly scope: string | null;
  readonly made: MadeAccessToken;
  readonly idToken: string | undefined;
}

/** Makes the same error for every invalid code, so that a guess reveals nothing. */
function notValid(): OAuthError {
  return new OAuthError('invalid_grant', 'The code is not valid');
}

/** Authenticates every client that must authenticate (§4.1.3), before anything is revealed about the code. */
async function redeemingClient({ credentials }: TokenRequest, context: GrantContext): Promise<ClientState> {
  const isNamed = credentials.method === 'none';
  const client = isNamed ? namedClient(context.state, credentials) : await authenticateClient(credentials, context);
  if (client === undefined || (isNamed && mustAuthenticateForCode(client))) throw notAuthenticated();
  if (client.client.grant_types.includes('authorization_code')) return client;
  throw new OAuthError('unauthorized_client', 'The client may not use the grant authorization_code');
}

const verifierShape = /^[A-Za-z0-9._~-]{43,128}$/;

function presentedCode({ parameters }: TokenRequest, client: ClientState): PresentedCode {
  const text = parameters.get('code');
  if (text === undefined) throw new OAuthError('invalid_request', 'code is missing');
  const verifier = parameters.get('code_verifier');
  if (verifier !== undefined && !verifierShape.test(verifier)) {
    throw new OAuthError('invalid_request', 'code_verifier must be 43 to 128 of A-Z a-z 0-9 - . _ ~ (RFC 7636)');
  }
  const code = parseCode(text);
  if (code === undefined) throw notValid();
  return { code, client, redirectUri: parameters.get('redirect_uri'), verifier };
}

/** Plans the token that the user agreed to; a target named again must be the same (RFC 8707 §2.2). */
function plannedFor(granted: FoundCode, { parameters }: TokenRequest, context: PlanContext): AccessTokenPlan {
  return planGrantedToken(context, { audience: askedIn(parameters).audience, scope: undefined }, granted);
}

/**
 * Uses a code, its row locked. A second use finds it used, and ends the tokens of the first. The code stays unused if
 * `make` throws, or needs a key first.
 */
async function redeem(
  connection: Connection,
  presented: PresentedCode,
  { state, services }: GrantContext,
  make: (answer: FoundCode) => Issued,
  now: number,
): Promise<(Issued & { readonly refreshToken?: string | undefined }) | 'refused' | 'full'> {
  const { box, settings } = state;
  const answer = await lockAnswer(connection, box, presented.code.id);
  if (answer === undefined) return 'refused';
  const verdict = judgeCode(answer, presented, state, now);
  if (verdict === 'used') {
    if (answer.tokens !== null) await endTokens(connection, box, answer.tokens, { as: 'revoked', now });
    services.audit('code_reused', { box, client: answer.client });
  }
  if (verdict !== 'good') return 'refused';
  const issued = make(answer);
  const { session } = issued.made;
  if (!(await hasRoom(connection, session, settings, now))) return 'full';
  const origin = { grant: 'a', settings: refreshSettings(presented.client.client, 'a'), box: settings, now } as const;
  const family =
    origin.settings.refresh_token === true ? await storeTokenFamily(connection, session, origin) : undefined;
  if (family === undefined) await insertSession(connection, session, null, null);
  const tokens: IssuedTokens = { session: session.id, bucket: session.bucket, family: family?.id ?? null };
  await useAnswer(connection, box, answer.id, { tokens, now });
  return { ...issued, refreshToken: family?.token };
}
