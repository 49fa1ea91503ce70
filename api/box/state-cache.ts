import { quotaOf } from '../../crds/quota.ts';
import type { Quota } from '../../crds/quota.ts';
import { inHeldBox } from '../db/box/box.ts';
import { singleStatements } from '../db/hot/index.ts';
import type { BatchedStatements, Placement } from '../db/hot/index.ts';
import { Outage } from '../db/core/outage.ts';
import { inSavepoint } from '../db/core/transaction.ts';
import { dataMissing } from '../problem.ts';
import type { Connection } from '../db/core/transaction.ts';
import type { BoxState, MovingBoxState } from './box-state.ts';
import { createLoadedBoxes } from './loaded-boxes.ts';
import type { LoadedBoxesParts } from './loaded-boxes.ts';
import type { AssertionUse } from '../db/hot/assertion.ts';
import type { EntryKey, KnownEntry } from '../db/client-auth/service-account-pin.ts';
import type { FamilyKey, RefreshUse } from '../db/hot/family.ts';
import type { FoundSession, SessionKey } from '../db/hot/check.ts';
import type { FirstOfFamily, NewSession } from '../db/hot/issue.ts';
import type { RefreshFamily } from '../db/session/refresh-family.ts';
import type { Versioned } from '../db/hot/statement.ts';

/**
 * Error that answers a request by what the configuration of its box says. It is only given under the current
 * configuration: {@link StateCache.decide} repeats the decision if the configuration changed meanwhile.
 */
export class Refusal extends Error {}

/** Error that ends an attempt whose configuration is not the current one any more. */
class ConfigChanged extends Error {
  /** The version that was seen; undefined if there is no such box. */
  readonly version: number | undefined;

  constructor(version: number | undefined) {
    super('the configuration changed during the decision');
    this.version = version;
  }
}

/**
 * The statements of one attempt at a decision. Each one that tells the config version of its box throws ConfigChanged
 * unless that is the version of the attempt: a decision never goes on under an older configuration. Each throws Outage.
 * A class, because every request has one.
 */
export class CurrentStatements {
  readonly #statements: BatchedStatements;
  readonly #state: BoxState;
  readonly #version: number;
  readonly #restoredAt: Placement['restoredAt'];
  readonly #isHeld: boolean;
  #isConfirmed = false;

  /**
   * Binds statements to the present version of a state, which may change in place later. `isHeld`: a transaction holds
   * the row of the box, and may write.
   */
  constructor({ statements, restoredAt }: Omit<Placement, 'pool'>, state: BoxState, isHeld = false) {
    this.#isHeld = isHeld;
    this.#restoredAt = restoredAt;
    this.#statements = statements;
    this.#state = state;
    this.#version = state.version;
  }

  /** Stores a session. */
  async issue(session: NewSession): Promise<void> {
    this.#requireWritable();
    this.confirm((await this.#statements.issue(session)).version);
  }

  /** Stores a refresh family of a client with its first session. */
  async issueFamily(first: FirstOfFamily): Promise<void> {
    this.#requireWritable();
    this.confirm((await this.#statements.issueFamily(first)).version);
  }

  /** Finds the session of a token; undefined if there is none. */
  async check(key: SessionKey): Promise<FoundSession | undefined> {
    return this.#read(await this.#statements.check(key));
  }

  /** Finds a refresh family that has not ended; undefined if there is none. */
  async family(key: FamilyKey): Promise<RefreshFamily | undefined> {
    return this.#read(await this.#statements.family(key));
  }

  /** Stores the session of a refresh token's use; false if a transaction must decide (`refreshSession` of api/db). */
  async refresh(use: RefreshUse): Promise<boolean> {
    this.#requireWritable();
    return this.#statements.refresh(use);
  }

  /** Checks whether this request is the first to use the assertion. */
  async useAssertion(use: AssertionUse): Promise<boolean> {
    this.#requireWritable();
    return this.#statements.useAssertion(use);
  }

  /** Finds the ServiceAccount of an entry; undefined if there is no such client, or no cluster that it belongs to. */
  async serviceAccount(key: EntryKey): Promise<KnownEntry | undefined> {
    return (await this.#statements.serviceAccount(key)).found;
  }

  /**
   * Notes that a statement of the attempt has seen a version. Throws ConfigChanged if it is another one, or if the
   * database has been restored from a backup since the attempt began.
   */
  confirm(version: number | undefined): void {
    if (version !== this.#version) throw new ConfigChanged(version);
    this.#requireNotRestored();
    this.#isConfirmed = true;
  }

  /** True once a statement of the attempt has seen the version. */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /** Reads the version of the box unless a statement of the attempt has seen it. */
  async confirmOnce(): Promise<void> {
    if (!this.#isConfirmed) this.confirm((await this.#statements.version(this.#state.box)).version);
  }

  /** Makes sure that a refusal, which has changed nothing, was decided under the current configuration alone. */
  async confirmRefusal(): Promise<void> {
    this.#requireUnchanged();
    await this.confirmOnce();
  }

  #read<T>({ version, value }: Versioned<T>): T {
    this.confirm(version);
    this.#requireUnchanged();
    return value;
  }

  /**
   * Throws as {@link CurrentStatements.#requireUnchanged}, and while the box is leaving its database: a transaction
   * tells whether it still is.
   */
  #requireWritable(): void {
    this.#requireUnchanged();
    this.#requireNotRestored();
    if (this.#state.leaving && !this.#isHeld) throw new ConfigChanged(this.#version);
  }

  /** Throws if the database has been restored from a backup, and an admin has not accepted the loss for the box. */
  #requireNotRestored(): void {
    const least = this.#restoredAt?.() ?? 0;
    if (this.#version < least) throw new ConfigChanged(least);
  }

  /** Throws unless the state still has the version of the attempt: then so had all that was read from it. */
  #requireUnchanged(): void {
    if (this.#state.version !== this.#version) throw new ConfigChanged(this.#state.version);
  }
}

/**
 * A decision on a state. Its answer, also a {@link Refusal} that it throws, is only given if the state was the box's
 * current configuration: its statements and its transaction confirm that, otherwise the version is read at the end.
 */
export type Decision<T> = (state: BoxState, statements: CurrentStatements, transaction: Transaction) => Promise<T>;

/**
 * Runs work in a transaction that holds the box's row at the version of the state: no change of the configuration comes
 * between the decision and the changes of the work. If the configuration has changed already, this attempt ends and the
 * next one begins.
 */
export type Transaction = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

/** The boxes a replica holds, and the way to decide on them. */
export interface StateCache {
  /**
   * Decides under the box's current configuration: if it changed meanwhile, the changes are loaded and the decision is
   * repeated; after two such rounds under a lock on the box's row. Undefined if there is no such box. Throws Outage,
   * and Problem for a box whose database was restored from a backup.
   */
  decide<T>(box: string, decision: Decision<T>): Promise<T | undefined>;
  /** Creates an empty state that is not held: for the effect of changes that are not committed. */
  readonly blank: (box: string) => MovingBoxState;
  /** Checks whether a box is in memory. A box without its namespace is not, once a request has found that. */
  holds(box: string): boolean;
  /** Returns the last loaded quotas of a box; the defaults for one that is not in memory. */
  readonly quota: (box: string) => Quota;
  /** Boxes in memory. */
  readonly size: number;
}

const optimisticRounds = 2;
const defaults = quotaOf();

/** Creates a cache of box states; a box is loaded when it is first requested. */
export function createStateCache(parts: LoadedBoxesParts): StateCache {
  const { placementOf } = parts;
  const boxes = createLoadedBoxes(parts);

  async function decide<T>(box: string, decision: Decision<T>): Promise<T | undefined> {
    let state = boxes.get(box) ?? (await firstLoad(box));
    for (let round = 0; round < optimisticRounds && state !== undefined; round += 1) {
      const decidedUnder = state.version;
      try {
        return await attempt(state, decision);
      } catch (error) {
        if (!(error instanceof ConfigChanged)) throw error;
        state = await boxes.load(box, Math.max(error.version ?? 1, decidedUnder + 1));
      }
    }
    return state === undefined ? undefined : decideLocked(box, decision);
  }

  /** Decides once. Throws ConfigChanged if the state is not the current configuration. */
  function attempt<T>(state: BoxState, decision: Decision<T>): Promise<T> {
    const placement = placementOf(state.box);
    const current = new CurrentStatements(placement, state);
    const transaction: Transaction = (work) =>
      inHeldBox(placement.pool, state.box, (connection, found) => {
        current.confirm(found);
        return work(connection);
      });
    return confirmed(current, decision(state, current, transaction));
  }

  /** Loads a box. The check for its existence first costs a place in a batch, not a transaction. */
  async function firstLoad(box: string): Promise<BoxState | undefined> {
    const { version } = await placementOf(box).statements.version(box);
    return version === undefined ? undefined : boxes.load(box, version);
  }

  /**
   * Decides under a lock, so that a busy box cannot starve a request: the configuration is fixed until the answer. A
   * refusal commits what the decision had stored before it, as it would have without the lock.
   */
  async function decideLocked<T>(box: string, decision: Decision<T>): Promise<T | undefined> {
    const { pool, restoredAt } = placementOf(box);
    const decided = await inHeldBox(pool, box, async (connection, version) => {
      if (version === undefined) return undefined;
      if (restoredAt !== undefined && version < restoredAt()) throw dataMissing();
      const state = await boxes.present(connection, box, version);
      if (state === undefined) return undefined;
      const current = new CurrentStatements({ statements: singleStatements(connection) }, state, true);
      try {
        current.confirm(version);
        return { value: await decision(state, current, (work) => inSavepoint(connection, work)) };
      } catch (error) {
        if (error instanceof Refusal) return { refusal: error };
        throw error instanceof ConfigChanged ? new Outage('the configuration changed under a lock') : error;
      }
    });
    if (decided === undefined) return undefined;
    if ('refusal' in decided) throw decided.refusal;
    return decided.value;
  }

  return {
    decide,
    blank: (box) => boxes.blank(box),
    holds: (box) => boxes.get(box) !== undefined,
    quota: (box) => boxes.get(box)?.quota ?? defaults,
    get size() {
      return boxes.size;
    },
  };
}

/** Returns a decision once the version that it was made under is known to be current. Throws ConfigChanged. */
async function confirmed<T>(current: CurrentStatements, decision: Promise<T>): Promise<T> {
  try {
    const answer = await decision;
    if (!current.isConfirmed) await current.confirmOnce();
    return answer;
  } catch (error) {
    if (error instanceof Refusal) await current.confirmRefusal();
    throw error;
  }
}
