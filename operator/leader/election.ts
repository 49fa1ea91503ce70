import { look, mayTake, type Candidate, type Lease, type LeaseStore, type Sight } from './lease.ts';
import type { Management } from '../../api/client/management.ts';

/** Error of a replica that no longer leads: its remaining writes are another one's now. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/** Dependencies of an election: the Lease, the candidate, time and randomness. */
export interface ElectionOptions extends Candidate {
  readonly store: LeaseStore;
  /** Milliseconds, from a clock that never goes back and keeps running while the process is stopped. */
  readonly now: () => number;
  readonly random: () => number;
  readonly schedule: (wait: number, callback: () => void) => () => void;
  /** Called for each failed call. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Part of the Lease's time after which a leader that could not renew no longer leads: long before anybody else may. (Of
 * 15 s: 10, as in client-go.)
 */
const deadlinePart = 2 / 3;
/** Time between two reads or renewals, as part of the Lease's time: seven fit into it. */
const retryPart = 2 / 15;
/** Limit of a call while a replica leaves, in milliseconds. */
const longestPatience = 1_000;

/** One replica's part in the leader election, from its creation on. */
export class Election {
  /** Rejects with LeadershipLost when this replica no longer leads, without having released the Lease. */
  readonly lost: Promise<never>;
  /** Resolves when this replica leads; stays pending if it never does. */
  readonly won: Promise<void>;
  readonly #options: ElectionOptions;
  /** Aborted when it stops taking part; then `#hurry` also aborts the call that is running. */
  readonly #leaving = new AbortController();
  readonly #hurry = new AbortController();
  readonly #winning = Promise.withResolvers<void>();
  readonly #losing = Promise.withResolvers<never>();
  readonly #ended: Promise<void>;
  /** The Lease as last written; present while this replica leads. */
  #held: Lease | undefined;
  /** Never reset: a late answer changes nothing. */
  #hasLost = false;
  /** End of its leadership unless it renews, in milliseconds of the clock. */
  #until = -Infinity;
  #seenAt = -Infinity;
  #cancelStepDown = (): void => undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.won = this.#winning.promise;
    this.lost = this.#losing.promise;
    // There may be no listener yet.
    this.lost.catch(() => undefined);
    this.#ended = this.#takePart();
  }

  /** Checks whether this replica leads now; to be called before every write. */
  readonly leads = (): boolean => {
    if (this.#held === undefined) return false;
    if (this.#options.now() < this.#until) return true;
    this.#lose('it could not renew its Lease in time');
    return false;
  };

  /** Checks whether this replica knows the leader: it has seen the Lease within the duration of a Lease. */
  readonly isInformed = (): boolean => this.#options.now() - this.#seenAt < this.#options.duration;

  /** Stops taking part, and lets another replica lead. No work may be running any more that only a leader may do. */
  async release(): Promise<void> {
    const { store, duration, schedule, onFailure } = this.#options;
    // Whole milliseconds: a timeout of anything else throws.
    const patience = Math.ceil(Math.min(longestPatience, duration * retryPart));
    this.#leaving.abort();
    // A pending answer shows which version must be released.
    const spare = schedule(patience, () => this.#hurry.abort(new Error('the operator is stopping')));
    await this.#ended;
    spare();
    this.#cancelStepDown();
    const held = this.leads() ? this.#held : undefined;
    this.#held = undefined;
    // A Lease that cannot be released expires.
    if (held !== undefined) await store.write(held, '', AbortSignal.timeout(patience)).catch(onFailure);
  }

  async #takePart(): Promise<void> {
    let sight: Sight | undefined;
    while (this.#held === undefined && !this.#hasLost && !this.#isLeaving()) {
      await this.#attempt(async () => {
        sight = await this.#tryToLead(sight);
      });
      await this.#pause();
    }
    while (!this.#isLeaving() && this.leads()) {
      await this.#attempt(() => this.#renew());
      await this.#pause();
    }
  }

  #isLeaving(): boolean {
    return this.#leaving.signal.aborted;
  }

  async #tryToLead(before: Sight | undefined): Promise<Sight> {
    const { store, now, identity } = this.#options;
    const { signal } = this.#hurry;
    const lease = await store.read(signal);
    const sight = look(before, lease, now());
    this.#seenAt = now();
    if (!mayTake(sight, this.#options, now())) return sight;
    const began = now();
    const taken = await store.write(lease, identity, signal);
    if (taken !== undefined) this.#lead(taken, began);
    return sight;
  }

  /** Renews the Lease, also if it was edited or deleted, but not if another replica holds it. */
  async #renew(): Promise<void> {
    const { store, now, identity } = this.#options;
    const { signal } = this.#hurry;
    let began = now();
    let renewed = await store.write(this.#held, identity, signal);
    if (renewed === undefined) {
      const found = await store.read(signal);
      if (found !== undefined && found.holder !== '' && found.holder !== identity) {
        this.#lose('another replica holds the Lease');
        return;
      }
      began = now();
      renewed = await store.write(found, identity, signal);
    }
    if (renewed !== undefined) this.#lead(renewed, began);
  }

  /** Leads from the start of the write: by the clocks of the other replicas the Lease begins later. */
  #lead(held: Lease, began: number): void {
    const { now, duration, schedule } = this.#options;
    if (this.#hasLost) return;
    this.#held = held;
    this.#seenAt = now();
    this.#until = began + duration * deadlinePart;
    this.#cancelStepDown();
    this.#cancelStepDown = schedule(Math.max(0, this.#until - now()), () => void this.leads());
    if (this.leads() && !this.#isLeaving()) this.#winning.resolve();
  }

  #lose(why: string): void {
    if (this.#held === undefined) return;
    this.#hasLost = true;
    this.#held = undefined;
    this.#cancelStepDown();
    this.#losing.reject(new LeadershipLost(`this replica leads no more: ${why}`));
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#isLeaving()) this.#options.onFailure(error);
    }
  }

  /** Waits until the next attempt, or until it stops taking part. */
  #pause(): Promise<void> {
    const { duration, random, schedule } = this.#options;
    const { signal } = this.#leaving;
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = schedule(duration * retryPart * (0.9 + random() / 5), end);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    });
  }
}

/**
 * Returns the API for a leader: these calls do not start once it no longer leads. Calls under an epoch are also fenced;
 * the claim of an epoch, which would fence the next leader, is not.
 */
export function callsOfLeader(management: Management, leads: () => boolean): Management {
  return {
    ...management,
    async claimEpoch(...claim) {
      requireLead(leads);
      return management.claimEpoch(...claim);
    },
    async putHosts(...call) {
      requireLead(leads);
      return management.putHosts(...call);
    },
    async move(...call) {
      requireLead(leads);
      return management.move(...call);
    },
    async apply(...call) {
      requireLead(leads);
      return management.apply(...call);
    },
  };
}

/** Checks before a write. Throws LeadershipLost if this replica no longer leads. */
export function requireLead(leads: () => boolean): void {
  if (!leads()) throw new LeadershipLost('this replica leads no more');
}
