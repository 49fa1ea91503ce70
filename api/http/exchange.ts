import type { ServerResponse } from 'node:http';

/** Whose error shape an endpoint has. */
export type ErrorShape = 'oauth' | 'resource' | 'plain' | 'page';

/** What we know of one request beside the request itself. */
export interface Exchange {
  readonly requestId: string;
  /** `performance.now()` at its start. */
  readonly started: number;
  readonly remoteAddr: string;
  /** The box it addresses; empty until that is known. */
  box: string;
  /** The path below the box. */
  path: string;
  /** The route's pattern, for metrics and logs: never a part of the request. */
  route: string;
  /** The request target as it came: unlike `path`, it does not depend on whether its box exists. */
  readonly target: string;
  shape: ErrorShape;
  /** The client it comes from, once that is proven. */
  client: string | undefined;
  /** The policy that granted it. */
  policy: string | undefined;
  /** The origin of another site whose scripts may read the answer; undefined: none. */
  allowedOrigin: string | undefined;
  /** The code of the error it was refused with. */
  error: string | undefined;
}

const key: unique symbol = Symbol('exchange');

/** A response carries its exchange: a WeakMap beside it costs the garbage collector more. */
interface Carrier {
  [key]?: Exchange;
}

/** Remembers the exchange of a response. */
export function beginExchange(response: ServerResponse & Carrier, exchange: Exchange): void {
  response[key] = exchange;
}

/** The exchange of a response; undefined when it failed before it had one. */
export function findExchange(response: ServerResponse & Carrier): Exchange | undefined {
  return response[key];
}

/** The exchange of a response; throws a TypeError when there is none, which is a programmer's mistake. */
export function exchangeOf(response: ServerResponse): Exchange {
  const exchange = findExchange(response);
  if (exchange === undefined) throw new TypeError('a response without its exchange');
  return exchange;
}
