/** The answer to a request for a token: its status, and the token when there is one. */
export interface TokenAnswer {
  readonly status: number;
  readonly token: string;
}

/** Asks a box for a token with client credentials. */
export async function askToken(boxUrl: string, id: string, secret: string): Promise<TokenAnswer> {
  const response = await fetch(`${boxUrl}/auth/token`, {
    method: 'POST',
    headers: { Authorization: basic(id, secret) },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const body: unknown = await response.json();
  return { status: response.status, token: member(body, 'access_token') };
}

/** A token; throws when there is none to be had. */
export async function tokenOf(boxUrl: string, id: string, secret: string): Promise<string> {
  const { status, token } = await askToken(boxUrl, id, secret);
  if (status !== 200) throw new Error(`no token for ${id}: ${String(status)}`);
  return token;
}

/** The status of a request with a token. */
export async function getStatus(boxUrl: string, path: string, token: string): Promise<number> {
  const response = await fetch(`${boxUrl}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return response.status;
}

/** Checks whether a token is active, by introspection from another client of the box (RFC 7662). */
export async function isActive(boxUrl: string, token: string, id: string, secret: string): Promise<boolean> {
  const response = await fetch(`${boxUrl}/auth/introspect`, {
    method: 'POST',
    headers: { Authorization: basic(id, secret) },
    body: new URLSearchParams({ token }),
  });
  const body: unknown = await response.json();
  if (response.status !== 200) throw new Error(`introspection answers ${String(response.status)}`);
  return typeof body === 'object' && body !== null && 'active' in body && body.active === true;
}

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

function member(body: unknown, name: string): string {
  if (typeof body !== 'object' || body === null) return '';
  const value: unknown = Reflect.get(body, name);
  return typeof value === 'string' ? value : '';
}
