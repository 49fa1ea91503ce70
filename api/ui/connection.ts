import { isList, isObject, parseJson } from '../../crds/path.ts';
import type { Answer, ApiRequest } from './connection/answer.ts';
import { retryAfter, signInSilently } from './connection/sign-in.ts';
import type { SignIn } from './connection/sign-in.ts';

/** The API of one box, as the signed-in user. The access token is in memory only. */
export interface Connection {
  /** Gets a token, again if there was one, for the first user only. Concurrent calls share one attempt. */
  signIn(): Promise<SignIn>;
  /** Sends a request; an expired token is replaced once. Never rejects, except when `signal` is aborted. */
  readonly request: (request: ApiRequest) => Promise<Answer>;
  /** Closes the session of the token. The user stays signed in with this browser. */
  close(): Promise<void>;
}

/** Reason why the signed-in user cannot continue: nobody, or another user, is signed in with this browser. */
export type Interruption = 'signed-out' | 'other-user';

/** Creates a connection without a token; `interrupt` is called when a request finds that its user is not signed in. */
export function createConnection(issuer: string, interrupt: (reason: Interruption) => void): Connection {
  let token: string | undefined;
  let subject: string | undefined;
  let signingIn: Promise<SignIn> | undefined;

  function signIn(): Promise<SignIn> {
    signingIn ??= signInSilently(issuer).then((attempt) => {
      const result = ofSameUser(attempt);
      token = result.kind === 'signed-in' ? result.token : undefined;
      signingIn = undefined;
      return result;
    });
    return signingIn;
  }

  /** The page shows the first user, and what they typed: nothing is sent in the name of another one. */
  function ofSameUser(result: SignIn): SignIn {
    if (result.kind !== 'signed-in') return result;
    subject ??= result.subject;
    if (result.subject === subject) return result;
    void closeSession(issuer, result.token);
    return { kind: 'other-user' };
  }

  async function request(wanted: ApiRequest): Promise<Answer> {
    if (token === undefined) {
      const result = await signIn();
      if (result.kind !== 'signed-in') return hindered(result);
    }
    const answer = await send(issuer, wanted, token);
    if (answer.kind !== 'refused' || answer.status !== 401) return answer;
    const result = await signIn();
    if (result.kind !== 'signed-in') return hindered(result);
    return send(issuer, wanted, result.token);
  }

  function hindered(result: Exclude<SignIn, { kind: 'signed-in' }>): Answer {
    if (result.kind === 'offline' || result.kind === 'unavailable') return result;
    const reason = result.kind === 'other-user' ? 'other-user' : 'signed-out';
    interrupt(reason);
    return { kind: reason };
  }

  return {
    signIn,
    request,
    async close() {
      const closed = token;
      token = undefined;
      if (closed !== undefined) await closeSession(issuer, closed);
    },
  };
}

/** Closes the session of a token. The request may outlive the page; without it the session expires by itself. */
async function closeSession(issuer: string, token: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  await fetch(`${issuer}/Session`, { method: 'DELETE', headers, keepalive: true }).catch(() => undefined);
}

async function send(
  issuer: string,
  { method, path, body, etag, signal }: ApiRequest,
  token: string | undefined,
): Promise<Answer> {
  const headers = {
    Accept: 'application/json',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(etag === undefined ? {} : { 'If-Match': etag }),
  };
  try {
    const options = { method, headers, body: body ?? null, signal: signal ?? null, cache: 'no-store' } as const;
    return await answerOf(await fetch(issuer + path, options));
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return { kind: 'offline' };
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  if (status === 429 || status >= 500) return { kind: 'unavailable', seconds: retryAfter(response) };
  if (status === 204) return { kind: 'done', status, body: undefined, headers };
  const body = parseJson(await response.text());
  // After a 401 a new token helps, whoever wrote the body.
  if (status !== 401 && !isObject(body) && !isList(body)) return { kind: 'unreadable', status };
  return status >= 400 ? { kind: 'refused', status, body } : { kind: 'done', status, body, headers };
}
