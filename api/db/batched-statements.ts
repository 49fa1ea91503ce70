import { findCode, redeemCode, storeCode } from './authorization/code-statements.ts';
import { findSignIn } from './authorization/sign-in-statement.ts';
import { useAssertion } from './client-auth/assertion.ts';
import { findServiceAccount } from './client-auth/service-account-entry.ts';
import { batchBounds, type BatchLimits, isOutage } from './core/batch-bounds.ts';
import { createBatch } from './core/batch.ts';
import type { Connections } from './core/pool.ts';
import { createPreparation, unprepared } from './core/prepared-statements.ts';
import type { Statement } from './core/statement.ts';
import type { Connection } from './core/transaction.ts';
import { withConnection } from './core/with-connection.ts';
import { findSession } from './session/check.ts';
import { findFamily } from './session/family-statement.ts';
import { configVersion, issueSession } from './session/issue.ts';

/** Makes a statement for many items callable for one. */
type Runner = <Item, Result>(statement: Statement<Item, Result>) => (item: Item) => Promise<Result>;

/** The statements of the token and check paths. Each throws Outage when Postgres cannot answer soon. */
export type BatchedStatements = ReturnType<typeof statementsOn>;

function statementsOn(runner: Runner) {
  return {
    issue: runner(issueSession),
    check: runner(findSession),
    family: runner(findFamily),
    version: runner(configVersion),
    useAssertion: runner(useAssertion),
    serviceAccount: runner(findServiceAccount),
    signIn: runner(findSignIn),
    storeCode: runner(storeCode),
    code: runner(findCode),
    redeem: runner(redeemCode),
  } as const;
}

/**
 * Runs the statements in micro-batches on a pool: requests that arrive during a statement share the next one. A
 * connection that leads straight to Postgres prepares each of them once.
 */
export function batchedStatements(pool: Connections, limits: BatchLimits): BatchedStatements {
  const bounds = { ...batchBounds, ...limits };
  const prepared = createPreparation();
  return statementsOn(({ run, boxOf }) => {
    const runOnPool = (items: Parameters<typeof run>[1]) =>
      withConnection(pool, limits.patience, async (connection) => run(await prepared(connection), items));
    const batch = createBatch(runOnPool, bounds, isOutage, boxOf);
    return (item) => batch.submit(item);
  });
}

/** Runs the statements one by one on a connection, inside a transaction that holds the box's row. */
export function singleStatements(connection: Connection): BatchedStatements {
  return statementsOn(({ run }) => async (item) => {
    const [result] = await run(unprepared(connection), [item]);
    if (result === undefined) throw new Error('the statement gave no result');
    return result;
  });
}
