import { useAssertion } from './assertion.ts';
import { findServiceAccount } from '../client-auth/service-account-pin.ts';
import type { BatchLimits } from './batch.ts';
import type { Connections } from '../core/pool.ts';
import { unprepared, batchesOn, type Runner } from './statement-batches.ts';
import type { Connection } from '../core/transaction.ts';
import { findSession } from './check.ts';
import { findFamily, refreshSession } from './family.ts';
import { issueFamily, configVersion, issueSession } from './issue.ts';

/** The statements of the token and check paths. Each throws Outage when Postgres cannot answer soon. */
export type BatchedStatements = ReturnType<typeof statementsOn>;

/** A database that boxes are placed on: its connections, and the queues of its hot statements. */
export interface Placement {
  readonly pool: Connections;
  readonly statements: BatchedStatements;
  /** Returns the config version from which on boxes lack no data: the time of the last restore. Absent: 0. */
  readonly restoredAt?: () => number;
}

/** Returns the placement of a box. Throws Outage, or Problem, if its database cannot serve. */
export type PlacementOf = (box: string) => Placement;

function statementsOn(runner: Runner) {
  return {
    issue: runner(issueSession),
    issueFamily: runner(issueFamily),
    check: runner(findSession),
    family: runner(findFamily),
    refresh: runner(refreshSession),
    version: runner(configVersion),
    useAssertion: runner(useAssertion),
    serviceAccount: runner(findServiceAccount),
  } as const;
}

/** Runs the statements in micro-batches on a pool. */
export function batchedStatements(pool: Connections, limits: BatchLimits): BatchedStatements {
  return statementsOn(batchesOn(pool, limits));
}

/** Runs the statements one by one on a connection, inside a transaction that holds the box's row. */
export function singleStatements(connection: Connection): BatchedStatements {
  return statementsOn(({ run }) => async (item) => {
    const [result] = await run(unprepared(connection), [item]);
    if (result === undefined) throw new Error('the statement gave no result');
    return result;
  });
}
