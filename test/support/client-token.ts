import { isObject } from '../../crds/path.ts';

/**
 * Returns an access token of a client for itself (RFC 6749 §4.4) from the box at a URL; `more` are further fields of
 * the request. Throws with the response if there is none.
 */
export async function clientToken(
  url: string,
  id: string,
  secret: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const fields = { grant_type: 'client_credentials', client_id: id, client_secret: secret, ...more };
  const response = await fetch(`${url}/auth/token`, { method: 'POST', body: new URLSearchParams(fields) });
  const text = await response.text();
  const answer: unknown = response.ok ? JSON.parse(text) : undefined;
  if (isObject(answer) && typeof answer['access_token'] === 'string') return answer['access_token'];
  throw new Error(`no token for ${id}: ${String(response.status)} ${text}`);
}
