import type { IncomingMessage } from 'node:http';
import type { ByteBudget } from '../shares/byte-budget.ts';
import type { Endpoint } from './endpoint.ts';
import { exchangeOf } from './exchange.ts';
import { networkOf } from './network-of.ts';

/** Bytes of bodies that a process holds at once for its callers: 64 MiB. */
export const heldBodyBytes = 67_108_864;

/** Takes bytes for a body; false when their sender has used up its share. */
type TakeBytes = (bytes: number) => boolean;

const key: unique symbol = Symbol('body bytes');

/** A request carries the way to take bytes for it. */
interface Carrier {
  [key]?: TakeBytes;
}

/**
 * Counts the body of a request against the share of its sender's network until the request has been answered: not only
 * until the body has arrived, for what is parsed of it stays in memory.
 */
export function countingBody(budget: ByteBudget, endpoint: Endpoint): Endpoint {
  return async (request: IncomingMessage & Carrier, response, path) => {
    const sharer = networkOf(exchangeOf(response).remoteAddr);
    const taken: (() => void)[] = [];
    request[key] = (bytes) => {
      const release = budget.take(sharer, bytes);
      if (release !== undefined) taken.push(release);
      return release !== undefined;
    };
    try {
      await endpoint(request, response, path);
    } finally {
      for (const release of taken) release();
    }
  };
}

/**
 * Takes bytes for the body of a request before they are kept; false when its sender has used up its share. On the
 * management port nothing is counted.
 */
export function takeBodyBytes(request: IncomingMessage & Carrier, bytes: number): boolean {
  return request[key]?.(bytes) ?? true;
}
