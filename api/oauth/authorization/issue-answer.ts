import { randomUUID } from 'node:crypto';
import { makeCode } from '../../credentials/code-text.ts';
import { insertAnswer } from '../../db/authorization-answer.ts';
import { insertSession } from '../../db/session.ts';
import type { SignIn } from '../../db/sign-in.ts';
import type { Connection } from '../../db/transaction.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { SigningKey } from '../../state/key-ring.ts';
import { makeToken } from '../make-access-token.ts';
import { hasRoom } from '../session-limit.ts';
import { answerAddress, errorAddress } from './answer-place.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/** What an answer is made of: the request, who said yes to it, and where from. */
export interface AnswerParts {
  readonly state: BoxState;
  readonly request: AuthorizationRequest;
  readonly signIn: SignIn;
  readonly visit: { readonly remoteAddr: string | null; readonly userAgent: string | null };
  /** Signs the token; null: it is opaque. */
  readonly key: SigningKey | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Milliseconds a code counts (RFC 6749 §4.1.2 allows ten minutes at most). */
const codeTime = 60_000;
/** Milliseconds in which a second use of a code is known for one. */
const day = 86_400_000;

/** Stores a code or a session; the address that brings it to the client, or its refusal. In a `write` transaction. */
export function issueAnswer(connection: Connection, parts: AnswerParts): Promise<string> {
  return parts.request.type === 'token' ? issueToken(connection, parts) : issueCode(connection, parts);
}

/** RFC 6749 §4.2.2: the token first, then the state, then the rest. */
async function issueToken(connection: Connection, parts: AnswerParts): Promise<string> {
  const { state, request, signIn, visit, key, now } = parts;
  const { place, plan, client } = request;
  const holder = { client: client.client.id, user: signIn.person.id, type: 'i', ...visit } as const;
  const { text, session } = makeToken(state, holder, plan, key, place.issuer, now);
  if (!(await hasRoom(connection, session, state.settings, now))) {
    return errorAddress(place, 'temporarily_unavailable', 'The client has as many live sessions as its box allows');
  }
  await insertSession(connection, session, null, null);
  const tokens = { session: session.id, bucket: session.bucket, family: null };
  await insertAnswer(connection, state.box, { ...answerOf(parts), hash: null }, tokens);
  const rest = [
    ['token_type', 'Bearer'],
    ['expires_in', plan.expiresIn?.toString()],
    ['scope', plan.scope === null || plan.scope === request.askedScope ? undefined : plan.scope],
  ] as const;
  return answerAddress(place, [['access_token', text]], rest);
}

/** RFC 6749 §4.1.2. */
async function issueCode(connection: Connection, parts: AnswerParts): Promise<string> {
  const { state, request } = parts;
  const { text, id, hash } = makeCode();
  await insertAnswer(connection, state.box, { ...answerOf(parts), id, hash }, null);
  return answerAddress(request.place, [['code', text]]);
}

function answerOf({ state, request, signIn, visit, now }: AnswerParts) {
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
