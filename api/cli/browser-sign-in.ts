import { createHash, randomBytes } from 'node:crypto';
import { isObject } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import { createBoxClient, noBoxAnswer } from './box-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import type { BoxAddress } from './current-box.ts';
import type { KeptLogin } from './state-file.ts';
import { OWN_CLIENT, INVALID_GRANT, requestTokens } from './kept-login.ts';
import { spawn } from 'node:child_process';
import type { Environment } from '../../program/environment.ts';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';

/** Milliseconds that a person has to sign in. */
const PATIENCE = 600_000;

/**
 * Signs a person in with the browser: a code with PKCE on a loopback address (RFC 8252, RFC 7636). Shows the address of
 * the sign-in with `show`. Throws CliError.
 */
export async function signInWithBrowser(
  { box, base }: BoxAddress,
  show: (address: string) => void,
): Promise<KeptLogin> {
  const { issuer, endpoint } = await metadataOf(box, base);
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const loopback = await listenOnLoopback(PATIENCE);
  try {
    const { redirectUri } = loopback;
    const answer = loopback.answer(state);
    show(`${endpoint}?${requestOf(redirectUri, state, verifier)}`);
    const code = codeIn(await answer, issuer);
    const fields = { grant_type: 'authorization_code', client_id: OWN_CLIENT, redirect_uri: redirectUri };
    const tokens = await requestTokens(base, { ...fields, code, code_verifier: verifier });
    if (tokens !== INVALID_GRANT) return tokens;
    throw new CliError(EXIT.refused, 'the box did not accept its code: run `boxctl login` again');
  } finally {
    loopback.close();
  }
}

/** Reads the addresses of a box (RFC 8414 §3). */
async function metadataOf(box: string, base: string): Promise<{ readonly issuer: string; readonly endpoint: string }> {
  const { body } = await createBoxClient(box, base, '').request('GET', '/.well-known/openid-configuration');
  const { issuer, authorization_endpoint: endpoint } = isObject(body) ? body : {};
  if (typeof issuer === 'string' && typeof endpoint === 'string' && /^https?:\/\//.test(endpoint))
    return { issuer, endpoint };
  throw noBoxAnswer(base);
}

function requestOf(redirect_uri: string, state: string, verifier: string): string {
  return new URLSearchParams({
    response_type: 'code',
    client_id: OWN_CLIENT,
    redirect_uri,
    scope: 'openid boxgate',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
}

/**
 * Returns the code of an answer. Throws CliError for an error (RFC 6749 §4.1.2.1) or another issuer (RFC 9207 §2.4).
 */
function codeIn(answer: URLSearchParams, issuer: string): string {
  if (answer.get('iss') !== issuer) throw new CliError(EXIT.refused, 'the answer came from another box');
  const code = answer.get('code');
  if (code !== null) return code;
  const reason = answer.get('error_description') ?? answer.get('error') ?? 'without a reason';
  throw new CliError(EXIT.refused, `the sign-in was refused: ${plainText(reason)}`);
}

/** Opens an address in the browser of the person; does nothing where there is none, or no display. */
export function openBrowser(address: string, environment: Environment): void {
  const command = opener(environment);
  if (command === undefined) return;
  const [program, ...args] = command;
  // A browser that does not start is no failure: the address is printed too.
  spawn(program, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

function opener(environment: Environment): readonly [string, ...string[]] | undefined {
  if (process.platform === 'darwin') return ['open'];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const display = [environment['WAYLAND_DISPLAY'], environment['DISPLAY']].some((one) => (one ?? '') !== '');
  return display ? ['xdg-open'] : undefined;
}

/** A loopback address that receives the answer to an authorization request (RFC 8252 §7.3). */
interface Loopback {
  readonly redirectUri: string;
  /** Waits for the first answer with the `state`: its parameters. Throws CliError when none comes in time. */
  answer(state: string): Promise<URLSearchParams>;
  close(): void;
}

/** Listens on a free port of 127.0.0.1; `patience` is the time for an answer, in milliseconds. */
async function listenOnLoopback(patience: number): Promise<Loopback> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = isObject(address) ? address['port'] : undefined;
  return {
    redirectUri: `http://127.0.0.1:${String(port)}/callback`,
    answer: (state) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          reject(new CliError(EXIT.refused, 'nobody has signed in within the time: run `boxctl login` again'));
        }, patience);
        server.on('request', (request, response) => {
          const answer = answerIn(request, state);
          tell(response, answer !== undefined);
          if (answer === undefined) return;
          clearTimeout(late);
          resolve(answer);
        });
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns the parameters of the answer that is waited for: any other program of the machine can send requests here. */
function answerIn({ method, url = '' }: IncomingMessage, state: string): URLSearchParams | undefined {
  const target = URL.parse(url, 'http://127.0.0.1');
  if (method !== 'GET' || target?.pathname !== '/callback') return undefined;
  return target.searchParams.get('state') === state ? target.searchParams : undefined;
}

function tell(response: ServerResponse, isAnswer: boolean): void {
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'",
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
  response.writeHead(isAnswer ? 200 : 404, headers);
  response.end(isAnswer ? 'boxctl has your answer. You can close this window.\n' : 'There is nothing here.\n');
}
