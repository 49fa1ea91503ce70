import { parseCode } from '../../../credentials/code-text.ts';
import type { FoundCode } from '../../../db/authorization/code-statements.ts';
import type { ClientState } from '../../../state/box-state.ts';
import { planForm, planGrantedToken } from '../plan.ts';
import type { AccessTokenPlan, PlanContext } from '../plan.ts';
import { requestedAccess } from '../requested-access.ts';
import type { PresentedCode } from '../../authorization/validate-code.ts';
import { mustAuthenticateForCode } from '../../client-auth/client-type.ts';
import { identifyClient, requireGrantType } from '../../client-auth/identify-client.ts';
import { keyFor } from '../../keys/key-needed.ts';
import { completeToken, startToken } from '../access-token.ts';
import type { MadeAccessToken } from '../access-token.ts';
import { OAuthError } from '../../oauth-error.ts';
import { planIdToken } from '../../openid/issue-id-token.ts';
import type { SignIdToken } from '../../openid/id-token.ts';
import { scopeMember } from '../requested-scope.ts';
import { tokenResponse } from '../response.ts';
import type { Grant, GrantContext, TokenRequest } from './grant.ts';
import { notValid, redeemCode } from './redeem-code.ts';

/** The authorization code grant, RFC 6749 §4.1.3, with PKCE (RFC 7636). */
export const authorizationCode: Grant = {
  name: 'authorization_code',
  async handle(request, context) {
    const { state, services } = context;
    const client = await redeemingClient(request, context);
    const presented = presentedCode(request, client);
    const settings = client.client.auth?.authorization_code ?? {};
    const now = services.now();
    const form = planForm(settings, state.settings);
    const started = startToken(state, form.lifetime, { key: keyFor(state, form, now), now });
    const issuer = services.issuer(state);
    // The state may move on while a statement uses the code: then these are still those of the decision.
    const { settings: box, keys } = state;
    const make = (answer: FoundCode): Issued => {
      const plan = plannedFor(answer, request, { settings, scopes: client.scopes, box, issuer, subject: 'user' });
      const { user, userAgent, person } = answer;
      const holder = { client: client.client.id, user, type: 'a', remoteAddr: request.remoteAddr, userAgent } as const;
      const made = completeToken(started, holder, plan, { issuer, person });
      const openId = { state: { settings: box, keys }, client: client.client, issuer, now };
      const signIdToken = planIdToken(openId, answer, made.text, plan.scope);
      return { plan, made, signIdToken };
    };
    const issued = await redeemCode({ presented, context, started, remoteAddr: request.remoteAddr, make, now });
    const idToken = await issued.signIdToken?.();
    const { made, plan, refreshToken } = issued;
    const scope = scopeMember(plan.scope, presented.code.grantsNothing ? '' : undefined);
    return tokenResponse(made.text, plan, scope, { refreshToken, idToken });
  },
};

interface Issued {
  readonly plan: AccessTokenPlan;
  readonly made: MadeAccessToken;
  readonly signIdToken: SignIdToken | undefined;
}

/** Authenticates every client that must authenticate (§4.1.3), before anything is revealed about the code. */
async function redeemingClient({ credentials }: TokenRequest, context: GrantContext): Promise<ClientState> {
  const client = await identifyClient(credentials, context, mustAuthenticateForCode);
  requireGrantType(client, 'authorization_code');
  return client;
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
  const namesTarget = parameters.has('audience') || parameters.has('resource');
  return { code, client, redirectUri: parameters.get('redirect_uri'), verifier, namesTarget };
}

/** Plans the token that the user agreed to; a target named again must be the same (RFC 8707 §2.2). */
function plannedFor(granted: FoundCode, { parameters }: TokenRequest, context: PlanContext): AccessTokenPlan {
  return planGrantedToken(context, { audience: requestedAccess(parameters).audience, scope: undefined }, granted);
}
