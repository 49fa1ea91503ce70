import type { ServerResponse } from 'node:http';
import { findRequestContext } from '../../../api/http/request/request-context.ts';
import type { RequestContext } from '../../../api/http/request/request-context.ts';
import type { SentResponse } from './comparison.ts';

// As the server of the API does: the named exports of node:http load more than it needs.
const http = process.getBuiltinModule('node:http');

/** Parts of a response while it is sent. */
interface Sending {
  readonly status: number;
  readonly headers: readonly string[];
  readonly pieces: unknown[];
}

/** Characters of a body above which only the first ones of a process are compared: to parse them takes milliseconds. */
const LONG_BODY = 262_144;
const MOST_LONG_BODIES = 50;

/**
 * Calls `onSent` with every response that the public port of an API in this process sends: whatever has a request
 * context; `route` is its pattern, or `(none)`. It changes the prototype of every response, so that no test can start
 * an API that it does not see.
 */
export function recordResponses(onSent: (sent: SentResponse, route: string) => void): void {
  const sending = new WeakMap<object, Sending>();
  let longBodies = 0;
  const { prototype } = http.ServerResponse;

  function replace(
    name: 'writeHead' | 'write' | 'end',
    see: (response: ServerResponse, first: unknown, second: unknown) => void,
  ): void {
    const original: unknown = Reflect.get(prototype, name);
    if (typeof original !== 'function') throw new TypeError(`a response without ${name}`);
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value(this: ServerResponse, ...parameters: readonly unknown[]): unknown {
        see(this, parameters[0], parameters[1]);
        const returned: unknown = Reflect.apply(original, this, parameters);
        return returned;
      },
    });
  }

  replace('writeHead', (response, status, headers) => {
    if (findRequestContext(response) === undefined || typeof status !== 'number') return;
    const list: readonly unknown[] = Array.isArray(headers) ? headers : [];
    sending.set(response, { status, headers: list.map(String), pieces: [] });
  });
  replace('write', (response, piece) => {
    sending.get(response)?.pieces.push(piece);
  });
  replace('end', (response, piece) => {
    const context = findRequestContext(response);
    const sent = sending.get(response);
    if (context === undefined || sent === undefined) return;
    sending.delete(response);
    if (typeof piece === 'string' || piece instanceof Uint8Array) sent.pieces.push(piece);
    onSent(responseOf(context, response.req.method ?? '', sent), context.route);
  });

  function responseOf(context: RequestContext, method: string, { status, headers, pieces }: Sending): SentResponse {
    const length = pieces.reduce((sum: number, piece) => sum + lengthOf(piece), 0);
    const isLong = length > LONG_BODY;
    if (isLong) longBodies += 1;
    const body = isLong && longBodies > MOST_LONG_BODIES ? undefined : textOf(pieces);
    return { method, path: pathOf(context), status, headers, body, hasBody: length > 0 };
  }
}

function lengthOf(piece: unknown): number {
  return typeof piece === 'string' || piece instanceof Uint8Array ? piece.length : 0;
}

function textOf(pieces: readonly unknown[]): string {
  const [first] = pieces;
  if (pieces.length === 1 && typeof first === 'string') return first;
  const bytes = pieces.map((piece) => (piece instanceof Uint8Array ? piece : Buffer.from(String(piece))));
  return Buffer.concat(bytes).toString('utf8');
}

/** Returns the path below the box, also of a request whose box was never found. */
function pathOf({ box, path, target }: RequestContext): string {
  const [whole = ''] = (box === '' ? target : path).split('?', 1);
  if (box !== '') return whole;
  return whole.replace(/^\/boxes\/[^/]*/, '').replace(/^(\/\.well-known\/[\w-]+)\/boxes\/[^/]*$/, '$1');
}
