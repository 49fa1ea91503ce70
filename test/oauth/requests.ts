/** An answer, read to its end. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Its JSON object; empty when it is none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Parameters of a request; undefined ones are left out. */
export type Fields = Readonly<Record<string, string | undefined>>;

/** Basic credentials as most clients send them: not encoded. */
export function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`, 'utf8').toString('base64')}`;
}

/** Sends a form, as most clients do; `authorization` goes into its header. */
export function sendForm(url: string, fields: Fields, authorization?: string): Promise<Reply> {
  return send(url, 'application/x-www-form-urlencoded', new URLSearchParams(defined(fields)).toString(), authorization);
}

/** Sends an object as JSON. */
export function sendJson(url: string, value: unknown, authorization?: string): Promise<Reply> {
  return send(url, 'application/json', JSON.stringify(value), authorization);
}

/** Sends a body of some type by POST. */
export async function send(url: string, type: string, body: string, authorization?: string): Promise<Reply> {
  const headers = { 'Content-Type': type, ...(authorization === undefined ? {} : { Authorization: authorization }) };
  return readReply(await fetch(url, { method: 'POST', headers, body }));
}

/** Reads an answer to its end. */
export async function readReply(response: Response): Promise<Reply> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: objectIn(text) };
}

/** A text of an answer, or '' where there is none. */
export function textOf({ body }: Reply, name: string): string {
  const value = body[name];
  return typeof value === 'string' ? value : '';
}

/** The claims of a JWT, unverified. */
export function claimsOf(jwt: string): Readonly<Record<string, unknown>> {
  return objectIn(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'));
}

/** The header of a JWT, unverified. */
export function headerOf(jwt: string): Readonly<Record<string, unknown>> {
  return objectIn(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString('utf8'));
}

function defined(fields: Fields): Record<string, string> {
  const entries = Object.entries(fields);
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
