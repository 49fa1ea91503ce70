import { createHash, randomBytes } from 'node:crypto';
import { isObject } from '../../../crds/json-value.ts';
import { plainText } from '../../../process/plain-text.ts';
import { createBoxClient, noBoxAnswer } from '../box-client.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { BoxAddress } from '../current-box.ts';
import type { KeptLogin } from '../state-file.ts';
import { OWN_CLIENT } from './kept-login.ts';
import { listenOnLoopback } from './loopback.ts';
import { INVALID_GRANT, requestTokens } from './token-endpoint.ts';

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
