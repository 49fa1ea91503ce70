/** Parts of a request. */
export interface RequestParts {
  readonly method?: string;
  /** With its box and query. */
  readonly path: string;
  /** The address that the proxy in front tells. */
  readonly from: string;
  readonly authorization?: string;
  readonly cookie?: string;
  readonly accept?: string;
  readonly type?: string;
  readonly body?: string;
}

/** The address of the victim: nobody else sends from its network. */
export const quietAddress = '192.0.2.7';
/** The one address of an attacker who has no others. */
export const rudeAddress = '203.0.113.9';

/** Returns a whole HTTP/1.1 request as text. */
export function requestText({
  method = 'GET',
  path,
  from,
  authorization,
  cookie,
  accept,
  type,
  body,
}: RequestParts): string {
  return [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `X-Forwarded-For: ${from}`,
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ...(cookie === undefined ? [] : [`Cookie: ${cookie}`]),
    ...(accept === undefined ? [] : [`Accept: ${accept}`]),
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    ...(body === undefined ? [] : [`Content-Length: ${String(Buffer.byteLength(body))}`]),
    '',
    body ?? '',
  ].join('\r\n');
}

/** The media type of a form. */
export const formType = 'application/x-www-form-urlencoded';

/** Returns a form as a whole request. */
export function formText(
  parts: Omit<RequestParts, 'method' | 'type' | 'body'>,
  fields: Record<string, string>,
): string {
  return requestText({ ...parts, method: 'POST', type: formType, body: new URLSearchParams(fields).toString() });
}

/** Returns the Authorization header of a client. */
export function basic(id: string, secret: string): string {
  return `Basic ${btoa(`${id}:${secret}`)}`;
}
