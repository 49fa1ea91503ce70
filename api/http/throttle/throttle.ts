import { BoundedMap } from '../../../program/bounded-map.ts';
import { networkOf } from '../../ip-address.ts';
import { Problem } from '../../problem.ts';

/** Failures allowed in a window, by their key. */
export interface ThrottleLimits {
  /** For one client from one address. */
  readonly perClient: number;
  /** For all clients of a box from one address. */
  readonly perBox: number;
  /** Milliseconds. */
  readonly window: number;
}

/** 20 failures a minute for a client and address, 100 for a box and address. */
export const defaultThrottle: ThrottleLimits = { perClient: 20, perBox: 100, window: 60_000 };

/** Separate counts of failures: forged refresh tokens do not hold back anybody who knows a secret. */
export interface Throttle {
  readonly secrets: FailureCount;
  readonly refreshTokens: FailureCount;
  /** Passwords of users, by account and address. */
  readonly passwords: FailureCount;
  /** Passwords of users, by the proof that they know the account: a browser's, or a token of the user (address ''). */
  readonly proven: FailureCount;
  /** Failures of users and clients by address alone, in all boxes (box and client ''): they move an address back. */
  readonly addresses: FailureCount;
  /** Accounts that users register from an address, successfully or not. */
  readonly signUps: FailureCount;
}

/** Counts failed attempts; a stranger's failures never hold back a valid attempt from elsewhere. */
export interface FailureCount {
  /** Checks whether this address may try this client again. */
  allows(box: string, client: string, address: string): boolean;
  /** Checks whether this address failed in this box at all: the cheapest check, so call it first. */
  hasFailures(box: string, address: string): boolean;
  failed(box: string, client: string, address: string): void;
  /**
   * Begins an attempt that takes a while: attempts in progress count like failures, so that concurrent ones get no more
   * tries than sequential ones. Returns the number of tries of this address in this box before; undefined if it may not
   * try. Call {@link FailureCount.end} for each, after counting it.
   */
  begin(box: string, client: string, address: string): number | undefined;
  end(box: string, client: string, address: string): void;
  /** Returns how often an address failed with a client in this window, including attempts in progress. */
  tries(box: string, client: string, address: string): number;
  /** Seconds, at least one, until everybody may try again. */
  readonly retryAfter: number;
}

/** Counts held at once; beyond that the ones whose last failure is the oldest are forgotten. */
const mostKeys = 100_000;

/**
 * Creates a throttle in this replica's memory, bounded: fixed windows, counted by (box, client, address) and (box,
 * address). An IPv6 address is counted as its network: its owner has all addresses of it.
 */
export function createThrottle(limits: ThrottleLimits, now: () => number): Throttle {
  return {
    secrets: createFailureCount(limits, now),
    refreshTokens: createFailureCount(limits, now),
    passwords: createFailureCount(limits, now),
    proven: createFailureCount({ ...limits, perBox: Infinity }, now),
    addresses: createFailureCount({ ...limits, perClient: Infinity, perBox: Infinity }, now),
    signUps: createFailureCount(limits, now),
  };
}

function createFailureCount(limits: ThrottleLimits, now: () => number): FailureCount {
  let counts = new BoundedMap<number>(mostKeys);
  let ends = now() + limits.window;
  /** Attempts in progress: independent of the window, and few, because their queue is bounded. */
  const underWay = new Map<string, number>();

  function current(): BoundedMap<number> {
    if (now() >= ends) {
      counts = new BoundedMap(mostKeys);
      ends = now() + limits.window;
    }
    return counts;
  }

  function tries(key: string): number {
    return (current().get(key) ?? 0) + (underWay.get(key) ?? 0);
  }

  return {
    allows(box, client, address) {
      const map = current();
      if (map.size === 0) return true;
      const ofBox = map.get(boxKey(box, address)) ?? 0;
      return ofBox < limits.perBox && (map.get(clientKey(box, client, address)) ?? 0) < limits.perClient;
    },
    hasFailures: (box, address) => current().size > 0 && counts.has(boxKey(box, address)),
    failed(box, client, address) {
      const map = current();
      for (const key of [boxKey(box, address), clientKey(box, client, address)]) {
        map.setNewest(key, (map.get(key) ?? 0) + 1);
      }
    },
    begin(box, client, address) {
      const [ofBox, ofClient] = [boxKey(box, address), clientKey(box, client, address)];
      const before = tries(ofBox);
      if (before >= limits.perBox || tries(ofClient) >= limits.perClient) return undefined;
      add(underWay, ofBox, 1);
      add(underWay, ofClient, 1);
      return before;
    },
    tries: (box, client, address) => tries(clientKey(box, client, address)),
    end(box, client, address) {
      add(underWay, boxKey(box, address), -1);
      add(underWay, clientKey(box, client, address), -1);
    },
    get retryAfter() {
      return Math.max(1, Math.ceil((ends - now()) / 1000));
    },
  };
}

function add(counts: Map<string, number>, key: string, number: 1 | -1): void {
  const sum = (counts.get(key) ?? 0) + number;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

/** Returns the key of a box and address. Neither contains a space, so no client's name can make another's key. */
function boxKey(box: string, address: string): string {
  return `${box} ${networkOf(address)}`;
}

/** Returns the key of a client, cut at the length of the longest ID or email: longer texts must not fill the memory. */
function clientKey(box: string, client: string, address: string): string {
  return `${boxKey(box, address)} ${client.slice(0, 255)}`;
}

/** An attempt that counts as a failure while it is in progress. */
export interface Attempt {
  /** Counts it as a failure, before it ends. Throws Outage. */
  failed(): Promise<void> | void;
  /** Ends it; call it exactly once, whatever the outcome. */
  end(): void;
}

/** Key of an attempt's counts: the box, the account (or ''), the address. */
export type CountedFor = readonly [box: string, account: string, address: string];

/** Begins an attempt in this replica's memory. Throws Problem `throttled` if too many failed or are in progress. */
export function beginAttempt(count: FailureCount, who: CountedFor): Attempt {
  if (count.begin(...who) === undefined) throw tooManyAttempts(count.retryAfter);
  return {
    failed: () => {
      count.failed(...who);
    },
    end: () => {
      count.end(...who);
    },
  };
}

/** Ends several attempts. */
export function endAll(attempts: readonly Attempt[]): void {
  for (const attempt of attempts) attempt.end();
}

/** Creates the Problem `throttled` of too many attempts, with the wait in seconds. */
export function tooManyAttempts(wait: number): Problem {
  const seconds = String(Math.max(1, Math.ceil(wait)));
  return new Problem('throttled', `Too many attempts; try again in ${seconds} s`, { 'Retry-After': seconds });
}

/**
 * Makes an attempt that is counted whether it succeeds or not. Throws Problem `throttled` if there were too many, and
 * any error of the attempt; such an attempt is not counted.
 */
export async function countAttempt<T>(count: FailureCount, who: CountedFor, attempt: () => Promise<T>): Promise<T> {
  const begun = beginAttempt(count, who);
  try {
    const outcome = await attempt();
    await begun.failed();
    return outcome;
  } finally {
    begun.end();
  }
}
