import type { IncomingMessage } from 'node:http';
import type { ByteBudget } from '../../shares/byte-budget.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { requestContextOf } from './request-context.ts';

/** Bytes of bodies that a process holds at once for its callers: 64 MiB. */
export const heldBodyBytes = 67_108_864;

const key: unique symbol = Symbol('body bytes');

/** A request that carries its part of the budget. */
interface Carrier {
  [key]?: HeldBytes;
}

/** The bytes that one request holds; a class, because every request with a body has one. */
class HeldBytes {
  readonly #budget: ByteBudget;
  readonly #sharer: string;
  #bytes = 0;
  #isAnswered = false;

  constructor(budget: ByteBudget, network: string) {
    this.#budget = budget;
    this.#sharer = network;
  }

  /** Takes bytes; false if the sharer has used up its share, or the request has been answered. */
  take(bytes: number): boolean {
    const isTaken = !this.#isAnswered && this.#budget.take(this.#sharer, bytes);
    if (isTaken) this.#bytes += bytes;
    return isTaken;
  }

  giveBack(): void {
    if (this.#bytes > 0) this.#budget.giveBack(this.#sharer, this.#bytes);
    this.#isAnswered = true;
  }
}

/**
 * Counts the body of a request against the share of its sender's network until the request has been answered, not only
 * until the body has arrived: the parsed body stays in memory.
 */
export function countingBody(budget: ByteBudget, endpoint: Endpoint): Endpoint {
  return async (request: IncomingMessage & Carrier, response, path) => {
    const held = new HeldBytes(budget, requestContextOf(response).network);
    request[key] = held;
    try {
      await endpoint(request, response, path);
    } finally {
      held.giveBack();
    }
  };
}

/**
 * Takes bytes for the body of a request before they are kept; false if its sender has used up its share. On the
 * management port nothing is counted.
 */
export function takeBodyBytes(request: IncomingMessage & Carrier, bytes: number): boolean {
  return request[key]?.take(bytes) ?? true;
}
