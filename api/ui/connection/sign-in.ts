import { isObject, parseJson } from '../../../crds/path.ts';
import { base64url, textOf } from './members.ts';

/** The built-in public client of every box for this UI. */
const CLIENT = 'boxgate.ui';
const SCOPE = 'openid email boxgate';

/** Result of an attempt to get an access token. */
export type SignIn =
  | { readonly kind: 'signed-in'; readonly token: string; /** ID of the user. */ readonly subject: string }
  /** Nobody is signed in with this browser. */
  | { readonly kind: 'signed-out' }
  /** Another user than before is signed in with this browser. */
  | { readonly kind: 'other-user' }
  | { readonly kind: 'offline' }
  | { readonly kind: 'unavailable'; readonly seconds: number | undefined }
  /** The box refuses the client: an error code of OAuth, or a status. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The page was loaded over http, so that the browser has no cryptography for PKCE. */
  | { readonly kind: 'insecure' };

/** Errors of an authorization response after which a sign-in page helps (OpenID Connect Core §3.1.2.6). */
const needPage: readonly string[] = [
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
];

/**
 * Gets an access token for the user who is signed in with this browser, without a page (`prompt=none`). The response
 * follows the redirect to the UI, whose address has the code: no frame is needed, and no token is stored anywhere.
 */
export async function signInSilently(issuer: string): Promise<SignIn> {
  if (!isSecureContext) return { kind: 'insecure' };
  const { verifier, challenge } = await createProof();
  const state = randomText();
  const address = authorizeAddress(issuer, { prompt: 'none', state, code_challenge: challenge });
  try {
    const response = await fetch(address, { mode: 'same-origin', credentials: 'same-origin', cache: 'no-store' });
    const problem = problemOf(response);
    if (problem !== undefined) return problem;
    const answer = new URL(response.url).searchParams;
    const error = answer.get('error');
    if (error !== null) return needPage.includes(error) ? { kind: 'signed-out' } : { kind: 'refused', reason: error };
    const code = answer.get('code');
    if (code === null || answer.get('state') !== state) return { kind: 'refused', reason: 'invalid_response' };
    return await redeem(issuer, code, verifier);
  } catch {
    return { kind: 'offline' };
  }
}

/**
 * Returns the address of the sign-in page. It leads back to the UI, which then signs in silently: the code in that
 * address is never used, and nobody knows its verifier. `place` is the fragment to return to.
 */
export async function signInAddress(issuer: string, place: string): Promise<string> {
  const { challenge } = await createProof();
  return authorizeAddress(issuer, { state: place, code_challenge: challenge });
}

function authorizeAddress(issuer: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT,
    redirect_uri: redirectUri(issuer),
    scope: SCOPE,
    code_challenge_method: 'S256',
    ...parameters,
  });
  return `${issuer}/auth/authorize?${query.toString()}`;
}

function redirectUri(issuer: string): string {
  return `${issuer}/ui/`;
}

async function redeem(issuer: string, code: string, verifier: string): Promise<SignIn> {
  const fields = {
    grant_type: 'authorization_code',
    client_id: CLIENT,
    code,
    redirect_uri: redirectUri(issuer),
    code_verifier: verifier,
  };
  const response = await fetch(`${issuer}/auth/token`, { method: 'POST', body: new URLSearchParams(fields) });
  const problem = problemOf(response);
  if (problem !== undefined) return problem;
  const body: unknown = await response.json();
  const [token, idToken] = isObject(body) ? [textOf(body, 'access_token'), textOf(body, 'id_token')] : ['', ''];
  const subject = subjectOf(idToken);
  if (token === '' || subject === '') return { kind: 'refused', reason: 'invalid_response' };
  return { kind: 'signed-in', token, subject };
}

/**
 * Returns the subject of an id_token; '' if there is none. The signature is not verified: the token comes from the
 * token endpoint itself (OpenID Connect Core §3.1.3.7).
 */
function subjectOf(idToken: string): string {
  const [, payload = ''] = idToken.split('.');
  const claims = parseJson(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
  return isObject(claims) ? textOf(claims, 'sub') : '';
}

function problemOf(response: Response): SignIn | undefined {
  if (response.ok) return undefined;
  if (response.status === 429 || response.status >= 500) return { kind: 'unavailable', seconds: retryAfter(response) };
  return { kind: 'refused', reason: String(response.status) };
}

/** Returns the seconds in Retry-After (RFC 9110 §10.2.3); undefined if there is none. */
export function retryAfter({ headers }: Pick<Response, 'headers'>): number | undefined {
  const text = headers.get('Retry-After');
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** A code verifier and its challenge (RFC 7636 §4.1, §4.2: S256). */
interface Proof {
  readonly verifier: string;
  readonly challenge: string;
}

/** Creates a verifier of 256 random bits. Rejects without a secure context (https, or http on loopback). */
async function createProof(): Promise<Proof> {
  const verifier = randomText();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return { verifier, challenge: base64url(new Uint8Array(digest)) };
}

/** Returns 256 random bits as 43 characters. */
function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}
