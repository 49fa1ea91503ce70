import { quotaOf } from '../../crds/quota.ts';
import type { Quota } from '../../crds/quota.ts';
import { inHeldBox } from '../db/box/box.ts';
import { singleStatements } from '../db/statement-batches.ts';
import type { BatchedStatements, Versioned } from '../db/batched-statements.ts';
import { Outage } from '../db/core/outage.ts';
import type { Connection } from '../db/core/transaction.ts';
import type { BoxState } from './box-state.ts';
import { createLoadedBoxes } from './loaded-boxes.ts';
import type { LoadedBoxesParts } from './loaded-boxes.ts';

/**
 * A decision on a state, returned with the config version that its statement saw. It must obtain every answer, also
 * a refusal, through one of the statements or the transaction, so that none is based on an older
 * configuration.
 */
export type Attempt<T> = (
  state: BoxState,
  statements: BatchedStatements,
  transaction: Transaction,
) => Promise<Versioned<T>>;

/**
 * Runs work in a transaction that holds the box's row at the version of the state: no change of the configuration comes
 * between the decision and the changes of the work. If the configuration has changed already, this attempt ends and
 * the next one begins.
 */
export type Transaction = <T>(work: (connection: Connection) => Promise<T>) => Promise<Versioned<T>>;

/** The boxes a replica holds, and the way to decide on them. */
export interface StateCache {
  /**
   * Decides under the box's current configuration: if it changed meanwhile, the changes are loaded and the decision is
   * repeated; after two such rounds under a lock on the box's row. Undefined if there is no such box. Throws Outage.
   */
  decide<T>(box: string, attempt: Attempt<T>): Promise<T | undefined>;
  /** Checks whether a box is in memory. A box without its namespace is not, once a request has found that. */
  holds(box: string): boolean;
  /** Returns the last loaded quotas of a box; the defaults for one that is not in memory. */
  readonly quota: (box: string) => Quota;
  /** Boxes in memory. */
  readonly size: number;
}

/** Dependencies of a cache. */
export interface StateCacheParts extends LoadedBoxesParts {
  readonly statements: BatchedStatements;
}

const optimisticRounds = 2;
const defaults = quotaOf();

/** Creates a cache of box states; a box is loaded when it is first requested. */
export function createStateCache(parts: StateCacheParts): StateCache {
  const { pool, statements } = parts;
  const boxes = createLoadedBoxes(parts);

  async function decide<T>(box: string, attempt: Attempt<T>): Promise<T | undefined> {
    let state = boxes.get(box) ?? (await firstLoad(box));
    for (let round = 0; round < optimisticRounds && state !== undefined; round += 1) {
      const decidedUnder = state.version;
      const answer = await attemptOnce(state, decidedUnder, attempt);
      if (!(answer instanceof Moved) && answer.version === decidedUnder) return answer.value;
      state = await boxes.load(box, Math.max(answer.version ?? 1, decidedUnder + 1));
    }
    return state === undefined ? undefined : decideLocked(box, attempt);
  }

  /** Loads a box. The check for its existence first costs a place in a batch, not a transaction. */
  async function firstLoad(box: string): Promise<BoxState | undefined> {
    const version = await statements.version(box);
    return version === undefined ? undefined : boxes.load(box, version);
  }

  async function attemptOnce<T>(state: BoxState, version: number, attempt: Attempt<T>): Promise<Versioned<T> | Moved> {
    try {
      return await attempt(state, statements, (work) => inVersion(state.box, version, work));
    } catch (error) {
      if (error instanceof Moved) return error;
      throw error;
    }
  }

  function inVersion<T>(box: string, version: number, work: (c: Connection) => Promise<T>): Promise<Versioned<T>> {
    return inHeldBox(pool, box, async (connection, found) => {
      if (found !== version) throw new Moved(found);
      return { version, value: await work(connection) };
    });
  }

  /** Decides under a lock, so that a busy box cannot starve a request: the configuration is fixed until the answer. */
  function decideLocked<T>(box: string, attempt: Attempt<T>): Promise<T | undefined> {
    return inHeldBox(pool, box, async (connection, version) => {
      if (version === undefined) return undefined;
      const state = await boxes.present(connection, box, version);
      if (state === undefined) return undefined;
      const transaction: Transaction = async (work) => ({ version, value: await work(connection) });
      const answer = await attempt(state, singleStatements(connection), transaction);
      if (answer.version !== version) throw new Outage('the configuration moved under a lock');
      return answer.value;
    });
  }

  return {
    decide,
    holds: (box) => boxes.get(box) !== undefined,
    quota: (box) => boxes.get(box)?.quota ?? defaults,
    get size() {
      return boxes.size;
    },
  };
}

/** Error that ends an attempt whose transaction found another version than that of the decision. */
class Moved extends Error {
  readonly version: number | undefined;

  constructor(version: number | undefined) {
    super('the configuration moved');
    this.version = version;
  }
}
