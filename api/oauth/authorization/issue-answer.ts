import { randomUUID } from 'node:crypto';
import { makeCode } from '../../credentials/code-text.ts';
import { insertAnswer } from '../../db/authorization/authorization-answer.ts';
import type { Person } from '../../db/user/person.ts';
import { insertSession } from '../../db/session/session.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { SigningKey } from '../../state/key-ring.ts';
import { makeToken } from '../token/access-token.ts';
import { makeIdToken } from '../openid/id-token.ts';
import { userClaims } from '../openid/user-claims.ts';
import { hasRoom, sessionQuotaRefusal } from '../token/session-limit.ts';
import { authorizationResponse, errorResponse } from './authorization-response.ts';
import type { AuthorizationResponse } from './authorization-response.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { givesToken } from './response-type.ts';

/** Input for an answer: the request, the sign-in that grants it, and the origin of the visit. */
export interface AnswerParts {
  readonly state: BoxState;
  readonly request: AuthorizationRequest;
  readonly signIn: SignIn;
  readonly visit: { readonly remoteAddr: string | null; readonly userAgent: string | null };
  /** Key that signs the token; null: it is opaque. */
  readonly key: SigningKey | null;
  /** Key that signs the id_token; null: none is requested, or it comes with the code's tokens. */
  readonly idKey: SigningKey | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Milliseconds for which a code is valid (RFC 6749 §4.1.2 allows ten minutes at most). */
const codeTime = 60_000;
/** Milliseconds in which a second use of a code is recognized. */
const day = 86_400_000;

/** Stores a code or a session; returns the answer with it, an id_token or a refusal. In a `write` transaction. */
export function issueAnswer(connection: Connection, parts: AnswerParts): Promise<AuthorizationResponse> {
  return parts.request.type === 'code' ? issueCode(connection, parts) : issueTokens(connection, parts);
}

/** Answers with the token, then the state, then the rest (RFC 6749 §4.2.2, OpenID Connect Core §3.2.2.5). */
async function issueTokens(connection: Connection, parts: AnswerParts): Promise<AuthorizationResponse> {
  const { request, key, now } = parts;
  const { place, plan, type } = request;
  if (!givesToken(type)) return authorizationResponse(place, [['id_token', idTokenOf(parts, undefined)]]);
  const refusal = sessionQuotaRefusal(parts.state);
  if (refusal !== undefined) return errorResponse(place, 'temporarily_unavailable', refusal.message);
  const holder = { client: request.client.client.id, user: parts.signIn.person.id, type: 'i', ...parts.visit } as const;
  const { text, session } = makeToken(parts.state, holder, plan, key, place.issuer, now);
  if (!(await hasRoom(connection, session, parts.state.settings, now))) {
    return errorResponse(place, 'temporarily_unavailable', 'The client has as many live sessions as its box allows');
  }
  await insertSession(connection, session, null, null);
  const tokens = { session: session.id, bucket: session.bucket, family: null };
  await insertAnswer(connection, parts.state.box, { ...answerOf(parts), hash: null }, tokens);
  const rest = [
    ['token_type', 'Bearer'],
    ['expires_in', plan.expiresIn?.toString()],
    ['scope', plan.scope === null || plan.scope === request.askedScope ? undefined : plan.scope],
    ['id_token', idTokenOf(parts, text)],
  ] as const;
  return authorizationResponse(place, [['access_token', text]], rest);
}

/** Makes the id_token. Without an access token it carries the claims of the scope (OpenID Connect Core §5.4). */
function idTokenOf({ request, signIn, idKey, now }: AnswerParts, accessToken: string | undefined): string | undefined {
  if (idKey === null) return undefined;
  const { place, plan, client, nonce = null } = request;
  const { person, createdAt } = signIn;
  const claims = accessToken === undefined && plan.scope !== null ? userClaims(person, plan.scope) : {};
  const who = { issuer: place.issuer, client: client.client.id, user: person.id };
  return makeIdToken({ ...who, nonce, authenticatedAt: createdAt, accessToken, claims }, idKey, now);
}

async function issueCode(connection: Connection, parts: AnswerParts): Promise<AuthorizationResponse> {
  const { row, answer } = newCode(parts);
  await insertAnswer(connection, parts.state.box, row, null);
  return answer;
}

/** Input for a code. */
export type CodeParts = Pick<AnswerParts, 'state' | 'request' | 'visit' | 'now'> & {
  readonly signIn: Pick<SignIn, 'browser' | 'createdAt' | 'expiresAt'> & { readonly person: Pick<Person, 'id'> };
};

/** Makes a code (RFC 6749 §4.1.2): the row to be stored, and the answer that brings it to the client. */
export function newCode(parts: CodeParts) {
  const { text, id, hash } = makeCode();
  return {
    row: { ...answerOf(parts), id, hash },
    answer: authorizationResponse(parts.request.place, [['code', text]]),
  };
}

function answerOf({ state, request, signIn, visit, now }: CodeParts) {
  return {
    id: randomUUID(),
    client: request.client.client.id,
    user: signIn.person.id,
    version: state.version,
    browser: signIn.browser,
    redirectUri: request.place.isNamed ? request.place.redirectUri : null,
    scope: request.plan.scope,
    audience: request.plan.audience,
    challenge: request.challenge,
    nonce: request.nonce ?? null,
    authenticatedAt: signIn.createdAt,
    userAgent: visit.userAgent,
    createdAt: now,
    expiresAt: now + codeTime,
    keptUntil: Math.max(now + day, signIn.expiresAt),
  };
}
