import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A request as it goes over the wire: what fetch would correct is sent as it stands. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** In this order, doubles included. `Host` and, for a body, `Content-Length` are added unless they stand here. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | Buffer;
}

/** An answer as it came. */
export interface RawReply {
  readonly status: number;
  /** Lower-case names; values of one name joined with `, `. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body. */
  readonly text: string;
  /** Head and body. */
  readonly whole: string;
  /** True if the server closed the connection, or announced that it closes it. */
  readonly closed: boolean;
}

/** Sends one request over a connection of its own. */
export function sendRequest(url: string, request: RawRequest): Promise<RawReply> {
  return sendBytes(url, requestBytes(request), request.method === 'HEAD');
}

/** A request's bytes. */
function requestBytes({ method, target, headers = [], body }: RawRequest): Buffer {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const added: [string, string][] = [];
  if (!names.has('host')) added.push(['Host', '127.0.0.1']);
  const bytes = Buffer.from(body ?? '');
  if (body !== undefined && !names.has('content-length') && !names.has('transfer-encoding')) {
    added.push(['Content-Length', String(bytes.length)]);
  }
  const lines = [...added, ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  // latin1: a test may put any byte into a target or a header.
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1'), bytes]);
}

/** Sends bytes and reads one answer. Throws when the connection ends without one. */
export async function sendBytes(url: string, bytes: string | Buffer, isHead = false): Promise<RawReply> {
  const socket = openSocket(url);
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  try {
    return await readAnswer(socket, isHead);
  } finally {
    socket.destroy();
  }
}

/** A connection to the server of a URL; what breaks it is seen by who reads from it. */
export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  return socket;
}

/** Reads one answer from a connection. Throws when it ends without one. */
export function readAnswer(socket: Socket, isHead = false): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const look = (ended: boolean): void => {
      const reply = parseReply(bytes, isHead, ended);
      if (reply !== undefined) resolve(reply);
      else if (ended) reject(new Error(`the connection ended after ${JSON.stringify(bytes.toString('latin1'))}`));
    };
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      look(false);
    });
    socket.once('close', () => {
      look(true);
    });
  });
}

function parseReply(bytes: Buffer, isHead: boolean, ended: boolean): RawReply | undefined {
  const text = bytes.toString('latin1').replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, '');
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  const headers = headersOf(lines);
  const hasBody = !isHead && status !== 204 && status !== 304;
  const body = text.slice(end + 4);
  const length = Number(headers.get('content-length') ?? 0);
  if (hasBody && body.length < length) return undefined;
  return {
    status,
    headers,
    text: Buffer.from(hasBody ? body.slice(0, length) : body, 'latin1').toString('utf8'),
    whole: text,
    closed: ended || headers.get('connection') === 'close',
  };
}

function headersOf(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}
