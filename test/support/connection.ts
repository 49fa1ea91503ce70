import { Agent, request } from 'node:http';

/** An answer as it came. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; an empty object when it is none. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** A request. */
export interface Ask {
  readonly method: string;
  /** Below the URL of the connection. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as a form when it is URLSearchParams, as JSON when it is another object. */
  readonly body?: URLSearchParams | object | undefined;
}

/** One TCP connection, kept open, with one request on it at a time. */
export interface Connection {
  /** Sends a request; on the second and every later one throws when the connection was not the open one. */
  send(ask: Ask): Promise<Reply>;
  close(): void;
}

/** A connection to a URL; opened with its first request. */
export function openConnection(url: string): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let sent = 0;
  return {
    async send(ask) {
      const { reply, reused } = await sendOn(agent, url, ask);
      sent += 1;
      if (sent > 1 && !reused) throw new Error('the server had closed the connection');
      return reply;
    },
    close() {
      agent.destroy();
    },
  };
}

function sendOn(
  agent: Agent,
  url: string,
  { method, path, headers, body }: Ask,
): Promise<{ reply: Reply; reused: boolean }> {
  return new Promise((resolve, reject) => {
    const options = { agent, method, headers: { ...typeOf(body), ...headers } };
    const outgoing = request(`${url}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const reply = { status: response.statusCode ?? 0, headers: response.headers, text, json: jsonOf(text) };
        resolve({ reply, reused: outgoing.reusedSocket });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : textOf(body));
  });
}

function typeOf(body: Ask['body']): Record<string, string> {
  if (body === undefined) return {};
  return {
    'Content-Type': body instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'application/json',
    'Content-Length': String(Buffer.byteLength(textOf(body))),
  };
}

function textOf(body: URLSearchParams | object): string {
  return body instanceof URLSearchParams ? body.toString() : JSON.stringify(body);
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
