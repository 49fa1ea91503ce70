/** A form as a whole HTTP/1.1 request; `credentials` become a Basic header, `cookie` is one as `name=value`. */
export function formRequest(
  path: string,
  fields: Record<string, string>,
  credentials?: Credentials,
  cookie?: string,
): string {
  const body = new URLSearchParams(fields).toString();
  return [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(credentials === undefined ? [] : [`Authorization: ${basic(credentials)}`]),
    ...(cookie === undefined ? [] : [`Cookie: ${cookie}`]),
    '',
    body,
  ].join('\r\n');
}

/** A GET with a bearer token as a whole HTTP/1.1 request; `headers` are added as they are. */
export function bearerRequest(path: string, token: string, headers: readonly string[] = []): string {
  return [...bearerHead('GET', path, token), ...headers, '', ''].join('\r\n');
}

/** A request with a bearer token as a whole HTTP/1.1 request, with a body of this media type if there is one. */
export function resourceRequest(
  [method, path]: readonly [method: string, path: string],
  token: string,
  body?: string,
  type = 'application/json',
): string {
  const own = bearerHead(method, path, token);
  if (body === undefined) return [...own, '', ''].join('\r\n');
  const length = Buffer.byteLength(body);
  return [...own, `Content-Type: ${type}`, `Content-Length: ${length}`, '', body].join('\r\n');
}

function bearerHead(method: string, path: string, token: string): readonly string[] {
  return [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`];
}

/** A GET with a cookie, `name=value` or several of them, as a whole HTTP/1.1 request. */
export function cookieRequest(path: string, cookie: string): string {
  return [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Cookie: ${cookie}`, '', ''].join('\r\n');
}

/** A client's id and secret. */
export type Credentials = { id: string; secret: string };

function basic({ id, secret }: Credentials): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}
