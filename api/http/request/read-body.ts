import type { IncomingMessage } from 'node:http';
import { Problem } from '../../problem.ts';
import type { ByteBudget } from '../../shares/byte-budget.ts';
import type { Endpoint } from './request-context.ts';
import { requestContextOf } from './request-context.ts';

/** Bytes of bodies that a process holds at once for its callers: 64 MiB. */
export const heldBodyBytes = 67_108_864;

/**
 * First bytes of each body that are not counted: however many networks have used up the budget, a token request of
 * another one is read. They are bounded by the number of connections, as the heads of requests are.
 */
const uncountedBytes = 4_096;

const key: unique symbol = Symbol('body bytes');
const body: unique symbol = Symbol('body');

/** A request that carries its part of the budget. */
interface Carrier {
  [key]?: HeldBytes;
  /** Its body, once it is asked for: a request that begins again has it still. */
  [body]?: Promise<Buffer>;
}

/** The bytes that one request holds; a class, because every request with a body has one. */
class HeldBytes {
  readonly #budget: ByteBudget;
  readonly #sharer: string;
  #received = 0;
  #counted = 0;
  #isAnswered = false;

  constructor(budget: ByteBudget, network: string) {
    this.#budget = budget;
    this.#sharer = network;
  }

  /** Takes bytes; false if the sharer has used up its share, or the request has been answered. */
  take(bytes: number): boolean {
    if (this.#isAnswered) return false;
    const more = Math.max(0, this.#received + bytes - uncountedBytes) - this.#counted;
    if (more > 0 && !this.#budget.take(this.#sharer, more)) return false;
    this.#received += bytes;
    this.#counted += more;
    return true;
  }

  giveBack(): void {
    if (this.#counted > 0) this.#budget.giveBack(this.#sharer, this.#counted);
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
function takeBodyBytes(request: IncomingMessage & Carrier, bytes: number): boolean {
  return request[key]?.take(bytes) ?? true;
}

/**
 * Maximum bytes of a request to an OAuth endpoint or a page, which has room for the longest token, and of one to a
 * resource.
 */
export const bodyLimits = { oauth: 65_536, resource: 1_048_576 } as const;

/** Bytes beyond a limit that are still read: closing a socket with unread bytes resets it and loses the answer. */
const passedOver = 262_144;

/**
 * Reads a body of at most `limit` bytes. Throws Problem `too-large`, `throttled` if its sender has used up its share of
 * memory, or `unsupported-media-type` if it is compressed: a bomb is never inflated. The answer to a body that is too
 * large closes the connection.
 */
export function readBody(request: IncomingMessage & Carrier, limit: number): Promise<Buffer> {
  const known = request[body];
  if (known !== undefined) return known;
  const received = receiveBody(request, limit);
  request[body] = received;
  return received;
}

function receiveBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (request.headers['content-encoding'] !== undefined && request.headers['content-encoding'] !== 'identity') {
    request.resume();
    return Promise.reject(
      new Problem('unsupported-media-type', 'Content-Encoding is not accepted: send the body as it is', {
        'Accept-Encoding': 'identity',
      }),
    );
  }
  if (!isPassedOver(request, limit)) return Promise.reject(tooLarge(limit));
  if (request.destroyed) return Promise.reject(endedEarly());
  return new Promise((resolve, reject) => {
    const kept = new KeptBytes(request, limit);
    request.on('data', (chunk: Buffer) => {
      const refusal = kept.add(chunk);
      if (refusal !== undefined) reject(refusal);
    });
    request.on('end', () => {
      const whole = kept.whole();
      if (whole instanceof Problem) reject(whole);
      else resolve(whole);
    });
    // A caller that hangs up causes an error of the socket, which is no bug.
    request.on('error', () => {
      reject(endedEarly());
    });
    request.on('close', () => {
      if (!request.complete) reject(endedEarly());
    });
  });
}

/**
 * The received bytes of a body, in one piece: each chunk costs some hundred bytes besides its own, and a sender may
 * make a chunk of every byte. Once a body is given up, no more bytes are kept, and further ones are discarded.
 */
class KeptBytes {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  #piece: Buffer = nothing;
  #length = 0;
  #isGivenUp = false;

  constructor(request: IncomingMessage, limit: number) {
    this.#request = request;
    this.#limit = limit;
  }

  /** Adds bytes; returns the Problem of a body that is too large, or whose sender has used up its share. */
  add(chunk: Buffer): Problem | undefined {
    this.#length += chunk.length;
    if (this.#length > this.#limit) this.#giveUp();
    if (this.#length > this.#limit + passedOver) {
      return tooLarge(this.#limit);
    }
    return this.#isGivenUp ? undefined : this.#keep(chunk);
  }

  whole(): Buffer | Problem {
    if (this.#length > this.#limit) return tooLarge(this.#limit);
    return this.#piece.subarray(0, this.#length);
  }

  #keep(chunk: Buffer): Problem | undefined {
    if (!takeBodyBytes(this.#request, chunk.length)) {
      this.#giveUp();
      return shareUsedUp();
    }
    const before = this.#length - chunk.length;
    if (before === 0) {
      this.#piece = chunk;
      return undefined;
    }
    if (this.#length > this.#piece.length) this.#grow(before);
    chunk.copy(this.#piece, before);
    return undefined;
  }

  /** Copies what was received before into a piece with room for as much again. */
  #grow(received: number): void {
    const larger = Buffer.allocUnsafe(Math.min(2 * this.#length, this.#limit));
    this.#piece.copy(larger, 0, 0, received);
    this.#piece = larger;
  }

  #giveUp(): void {
    this.#isGivenUp = true;
    this.#piece = nothing;
  }
}

const nothing = Buffer.alloc(0);

/** Checks whether a body is announced short enough to be read, so that its answer need not close the connection. */
function isPassedOver(request: IncomingMessage, limit: number): boolean {
  return Number(request.headers['content-length'] ?? 0) <= limit + passedOver;
}

function endedEarly(): Problem {
  return new Problem('bad-request', 'The request ended before its body did');
}

function tooLarge(limit: number): Problem {
  return new Problem('too-large', `The body is larger than ${String(limit)} bytes`, { Connection: 'close' });
}

function shareUsedUp(): Problem {
  const message = 'Too many bytes from this address wait to be answered. Try again in 1 s';
  return new Problem('throttled', message, { 'Retry-After': '1' });
}
