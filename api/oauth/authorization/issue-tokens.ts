import { randomUUID } from 'node:crypto';
import { insertAnswer } from '../../db/authorization/authorization-answer.ts';
import type { FoundSignIn } from '../../db/authorization/sign-in-statement.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { insertSession } from '../../db/session/session.ts';
import type { Person } from '../../db/user/person.ts';
import type { SigningKey } from '../../state/key-ring.ts';
import { keyFor } from '../keys/key-needed.ts';
import { idTokenKeyFor, prepareIdToken } from '../openid/id-token.ts';
import { idTokenClaims } from '../openid/issue-id-token.ts';
import { userClaims } from '../openid/user-claims.ts';
import { makeToken } from '../token/access-token.ts';
import { claimsFor } from '../scope-text.ts';
import { scopeParameter } from '../token/requested-scope.ts';
import { takePlace, tooManySessions } from '../token/session-limit.ts';
import { sessionQuotaRefusal } from '../token/session-quota.ts';
import { authorizationResponse, errorResponse } from './authorization-response.ts';
import type { AuthorizationResponse } from './authorization-response.ts';
import type { BrowserRequest } from './browser-request.ts';
import { answerRow } from './issue-code.ts';
import { givesIdToken, givesToken } from './request/response-type.ts';

/** The user that tokens are issued to, and the sign-in, whose row is locked. */
export interface SignedInPerson {
  readonly signIn: FoundSignIn;
  readonly person: Person;
}

/** Keys that sign the tokens of an answer. */
export interface AnswerKeys {
  /** Null: the access token is opaque, or there is none. */
  readonly key: SigningKey | null;
  /** Null: there is no id_token. */
  readonly idKey: SigningKey | null;
}

/** Returns the keys that sign the tokens of a request; both null for a code. Throws KeyNeeded. */
export function answerKeys({ state, request, now }: BrowserRequest): AnswerKeys {
  const { type, plan, client } = request;
  return {
    key: givesToken(type) ? keyFor(state, plan, now) : null,
    idKey: givesIdToken(type) ? idTokenKeyFor(state, client.client, now) : null,
  };
}

/**
 * Stores a session and answers with its token, then the state, then the rest (RFC 6749 §4.2.2, OpenID Connect Core
 * §3.2.2.5), or answers with an id_token or a refusal. In a transaction that holds the box. Throws Outage.
 */
export async function issueTokens(
  connection: Connection,
  asked: BrowserRequest,
  holder: SignedInPerson,
  keys: AnswerKeys,
): Promise<AuthorizationResponse> {
  const { state, request, origin, now } = asked;
  const { place, plan, type, client } = request;
  const idTokenOf = (accessToken?: string): Promise<string> | undefined =>
    idTokenFor(asked, holder, keys.idKey, accessToken);
  if (!givesToken(type)) return authorizationResponse(place, [['id_token', await idTokenOf()]]);
  const refusal = sessionQuotaRefusal(state);
  if (refusal !== undefined) return errorResponse(place, 'temporarily_unavailable', refusal.message);
  const owner = { client: client.client.id, user: holder.person.id, type: 'i', ...origin } as const;
  const { text, session } = makeToken(state, owner, plan, {
    issuer: place.issuer,
    key: keys.key,
    now,
    person: holder.person,
  });
  if (!(await takePlace(connection, session, state.settings, now))) {
    return errorResponse(place, 'temporarily_unavailable', tooManySessions().message);
  }
  await insertSession(connection, session, null, null);
  const tokens = { session: session.id, bucket: session.bucket, family: null };
  await insertAnswer(connection, state.box, { ...answerRow(asked, holder.signIn), id: randomUUID() }, tokens);
  const rest = [
    ['token_type', 'Bearer'],
    ['expires_in', plan.expiresIn?.toString()],
    ['scope', scopeParameter(plan.scope, request.askedScope)],
    ['id_token', await idTokenOf(text)],
  ] as const;
  return authorizationResponse(place, [['access_token', text]], rest);
}

/** Makes the id_token. Without an access token it has all claims of the scope (OpenID Connect Core §5.4). */
function idTokenFor(
  { request, now }: BrowserRequest,
  { person, signIn }: SignedInPerson,
  idKey: SigningKey | null,
  accessToken: string | undefined,
): Promise<string> | undefined {
  if (idKey === null) return undefined;
  const { place, plan, client, nonce = null } = request;
  const scope = plan.scope ?? '';
  const claims =
    accessToken === undefined
      ? userClaims(person, scope, claimsFor('id_token', scope))
      : idTokenClaims(person, scope, {});
  const who = { issuer: place.issuer, client: client.client.id, user: person.id };
  return prepareIdToken({ ...who, nonce, authenticatedAt: signIn.createdAt, accessToken, claims }, idKey, now)();
}
