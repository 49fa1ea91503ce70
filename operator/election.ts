import { look, mayTake, type Candidate, type Lease, type LeaseStore, type Sight } from './lease.ts';

/** One replica's part in choosing the one that leads. */
export interface Election {
  /** Resolves when this one leads; never, when it does not come to that. */
  readonly won: Promise<void>;
  /** Rejects with LeadershipLost when it leads no more, without having released the Lease. */
  readonly lost: Promise<never>;
  /** Whether it leads now: to be asked before every write. */
  readonly leads: () => boolean;
  /** Whether it knows who leads: it has seen the Lease within the time that one counts. */
  readonly isInformed: () => boolean;
  /** Takes no more part; lets another one lead at once. Nothing may be under way any more that only a leader may do. */
  release(): Promise<void>;
}

/** This replica leads no more: what it still wants to write is another one's now. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/** What an election works with: the Lease, who asks, time and chance. */
export interface ElectionOptions extends Candidate {
  readonly store: LeaseStore;
  /** Milliseconds, from a clock that never goes back and does not stop while the process does. */
  readonly now: () => number;
  readonly random: () => number;
  readonly schedule: (wait: number, callback: () => void) => () => void;
  /** Hears of calls that failed. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * A leader that could not renew for this part of the Lease's time leads no more: long before anybody else may. (Of 15 s: 10,
 * as client-go has it.)
 */
const deadlinePart = 2 / 3;
/** Looks and renewals come this often: seven in the time of the Lease. */
const retryPart = 2 / 15;
/** Milliseconds that a call may take when a replica leaves. */
const longestPatience = 1_000;

/** Takes part from now on. */
export function startElection(options: ElectionOptions): Election {
  return new LeaseElection(options);
}

class LeaseElection implements Election {
  readonly lost: Promise<never>;
  readonly won: Promise<void>;
  readonly #options: ElectionOptions;
  /** It takes no more part; then that also what it has asked is waited for no longer. */
  readonly #leaving = new AbortController();
  readonly #hurry = new AbortController();
  readonly #winning = Promise.withResolvers<void>();
  readonly #losing = Promise.withResolvers<never>();
  readonly #ended: Promise<void>;
  /** Present while it leads: the Lease as it was written last. */
  #held: Lease | undefined;
  /** For good: an answer that comes late changes nothing. */
  #hasLost = false;
  /** It leads until then, unless it renews. */
  #until = -Infinity;
  #seenAt = -Infinity;
  #cancelStepDown = (): void => undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.won = this.#winning.promise;
    this.lost = this.#losing.promise;
    // Nobody may be listening yet.
    this.lost.catch(() => undefined);
    this.#ended = this.#takePart();
  }

  readonly leads = (): boolean => {
    if (this.#held === undefined) return false;
    if (this.#options.now() < this.#until) return true;
    this.#lose('it could not renew its Lease in time');
    return false;
  };

  readonly isInformed = (): boolean => this.#options.now() - this.#seenAt < this.#options.duration;

  async release(): Promise<void> {
    const { store, duration, schedule, onFailure } = this.#options;
    // Whole milliseconds: a timeout of anything else throws.
    const patience = Math.ceil(Math.min(longestPatience, duration * retryPart));
    this.#leaving.abort();
    // An answer that is on its way says which version is to be released.
    const spare = schedule(patience, () => this.#hurry.abort(new Error('the operator is stopping')));
    await this.#ended;
    spare();
    this.#cancelStepDown();
    const held = this.leads() ? this.#held : undefined;
    this.#held = undefined;
    // What cannot be released runs out.
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

  /** Also where the Lease was edited or deleted; not where it has become another one's. */
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

  /** Counted from when the write began: by the clocks of the others the Lease begins later. */
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

  /** Until the next look; at once when it takes no more part. */
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
