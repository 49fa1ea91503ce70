import type { Call, Caller } from './caller/caller.ts';
import { isObject, parseJson } from '../../crds/path.ts';
import { textAt } from './kubectl.ts';
import { system } from './installation.ts';

/** Returns the base URL of a box in the cluster. */
export function boxUrl(box: string): string {
  return `http://boxgate-api.${system}.svc/boxes/${box}`;
}

/** Returns the token request of a client with its secret (RFC 6749 §4.4.2). */
export function tokenRequest(url: string, id: string, secret: string): Call {
  const credentials = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64');
  return {
    ...form(url, { grant_type: 'client_credentials' }),
    headers: { ...urlEncoded, authorization: `Basic ${credentials}` },
  };
}

/** Returns the token request of a client with the token of a ServiceAccount (RFC 7523 §2.2). */
export function assertionRequest(url: string, id: string, assertion: string): Call {
  return form(url, {
    grant_type: 'client_credentials',
    client_id: id,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion.trim(),
  });
}

/** Makes a token request and returns the access token. Throws with the answer if there is none. */
export async function tokenOf(caller: Caller, request: Call): Promise<string> {
  const answer = await caller.call(request);
  const token = textAt(parseJson(answer.body), 'access_token');
  if (token === undefined) throw new Error(`${request.url} answered ${answer.status}: ${answer.body}`);
  return token;
}

/** Returns a request with a bearer token (RFC 6750 §2.1). */
export function bearer(url: string, token: string, method = 'GET'): Call {
  return { url, method, headers: { authorization: `Bearer ${token}` } };
}

/** Returns the entries of a Secret that `kubectl get --output json` returned, decoded. */
export function secretEntries(secret: unknown): Readonly<Record<string, string>> {
  const data = isObject(secret) ? secret['data'] : undefined;
  const entries = isObject(data) ? Object.entries(data) : [];
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString()]));
}

const urlEncoded = { 'content-type': 'application/x-www-form-urlencoded' };

function form(url: string, fields: Readonly<Record<string, string>>): Call {
  return { url, method: 'POST', headers: urlEncoded, body: new URLSearchParams(fields).toString() };
}
