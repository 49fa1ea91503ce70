import { parseJson } from '../../../crds/json-value.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { retryAfter, signInSilently } from './sign-in.ts';
import type { SignIn } from './sign-in.ts';

/** The API of one box, as the signed-in user. The access token is in memory only. */
export interface Connection {
  readonly issuer: string;
  /** Gets a token, again if there was one. Concurrent calls share one attempt. */
  signIn(): Promise<SignIn>;
  /** Sends a request; an expired token is replaced once. Never rejects, except when `signal` is aborted. */
  readonly request: (request: ApiRequest) => Promise<Answer>;
  /** Closes the session of the token. The user stays signed in with this browser. */
  close(): Promise<void>;
}

/** Creates a connection without a token; `onSignedOut` is called when a request finds that nobody is signed in. */
export function createConnection(issuer: string, onSignedOut: () => void): Connection {
  let token: string | undefined;
  let signingIn: Promise<SignIn> | undefined;

  function signIn(): Promise<SignIn> {
    signingIn ??= signInSilently(issuer).then((result) => {
      token = result.kind === 'signed-in' ? result.token : undefined;
      signingIn = undefined;
      return result;
    });
    return signingIn;
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
    onSignedOut();
    return { kind: 'signed-out' };
  }

  return {
    issuer,
    signIn,
    request,
    async close() {
      const closed = token;
      token = undefined;
      if (closed === undefined) return;
      const headers = { Authorization: `Bearer ${closed}` };
      // It may outlive the page. Without it the session expires by itself.
      await fetch(`${issuer}/Session`, { method: 'DELETE', headers, keepalive: true }).catch(() => undefined);
    },
  };
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
  const body = parseJson(await response.text());
  return status >= 400 ? { kind: 'refused', status, body } : { kind: 'done', status, body, headers };
}
