/** An answer to a request of the interface document. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Its JSON value. */
  readonly body: unknown;
}

/**
 * Sends a request as the interface document shows it: method and address, then the headers, then, behind an empty line,
 * the body. `{base_url}` is where the box is.
 */
export async function send(baseUrl: string, request: string): Promise<Answer> {
  const [head = '', ...parts] = dedented(request).split('\n\n');
  const [first = '', ...headerLines] = head.split('\n');
  const [method = '', address = ''] = first.split(' ');
  const headers = headerLines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const body = parts.length === 0 ? null : parts.join('\n\n');
  const response = await fetch(address.replace('{base_url}', baseUrl), { method, headers, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

/** Without the indent that the code around it needs. */
function dedented(text: string): string {
  const lines = text.replace(/^\n|\n *$/g, '').split('\n');
  const indent = Math.min(...lines.filter((line) => line !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(indent)).join('\n');
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** A member of a JSON object, '' where there is none or it is no text. */
export function textIn({ body }: Answer, name: string): string {
  if (typeof body !== 'object' || body === null) return '';
  const value: unknown = Reflect.get(body, name);
  return typeof value === 'string' ? value : '';
}
