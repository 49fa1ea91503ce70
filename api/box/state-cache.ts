import { quotaOf } from '../../crds/quota.ts';
import type { Quota } from '../../crds/quota.ts';
import { inHeldBox } from '../db/box/box.ts';
import { singleStatements } from '../db/batched-statements.ts';
import type { BatchedStatements } from '../db/batched-statements.ts';
import { Outage } from '../db/core/outage.ts';
import { inSavepoint } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import type { BoxState, MovingBoxState } from './box-state.ts';
import { ConfigChanged, CurrentStatements } from './current-statements.ts';
import { createLoadedBoxes } from './loaded-boxes.ts';
import type { LoadedBoxesParts } from './loaded-boxes.ts';
import { Refusal } from './refusal.ts';

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
   * repeated; after two such rounds under a lock on the box's row. Undefined if there is no such box. Throws Outage.
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
    const current = new CurrentStatements(statements, state);
    const transaction: Transaction = (work) =>
      inHeldBox(pool, state.box, (connection, found) => {
        current.confirm(found);
        return work(connection);
      });
    return confirmed(current, decision(state, current, transaction));
  }

  /** Loads a box. The check for its existence first costs a place in a batch, not a transaction. */
  async function firstLoad(box: string): Promise<BoxState | undefined> {
    const { version } = await statements.version(box);
    return version === undefined ? undefined : boxes.load(box, version);
  }

  /**
   * Decides under a lock, so that a busy box cannot starve a request: the configuration is fixed until the answer. A
   * refusal commits what the decision had stored before it, as it would have without the lock.
   */
  async function decideLocked<T>(box: string, decision: Decision<T>): Promise<T | undefined> {
    const decided = await inHeldBox(pool, box, async (connection, version) => {
      if (version === undefined) return undefined;
      const state = await boxes.present(connection, box, version);
      if (state === undefined) return undefined;
      const current = new CurrentStatements(singleStatements(connection), state);
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
