import { findServiceAccounts, useAssertions } from './client-auth/assertion.ts';
import { createBatch } from './core/batch.ts';
import { checkAll } from './session/check.ts';
import { findCodes, redeemCodes, storeCodes } from './authorization/code-statements.ts';
import { findFamilies } from './session/family-statement.ts';
import type {
  AssertionUse,
  CodeKey,
  EntryKey,
  FamilyKey,
  FoundCode,
  FoundSession,
  FoundSignIn,
  BatchedStatements,
  KnownEntry,
  NewCode,
  NewSession,
  SessionKey,
  SignInKey,
  Versioned,
} from './batched-statements.ts';
import { issueAll, versionsOf } from './session/issue.ts';
import { Outage, toOutage } from './core/outage.ts';
import type { Connections } from './core/pool.ts';
import { Problem } from '../problem.ts';
import { findSignIns } from './authorization/sign-in-statement.ts';
import type { Connection } from './core/transaction.ts';
import { withConnection } from './core/with-connection.ts';

/** Limits of a batch: requests in a statement, statements in flight, requests that may wait, and for how long. */
export interface BatchLimits {
  readonly size: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** Milliseconds after which a request fails because Postgres does not answer. */
  readonly patience: number;
}

/** Default limits: two connections were as good as more (measured); a batch of a few hundred takes milliseconds. */
export const defaultBatchLimits: BatchLimits = { size: 256, inFlight: 2, waiting: 20_000, patience: 1_600 };

/** The bounds of every batch of requests, with the default limits. */
export const batchBounds = {
  ...defaultBatchLimits,
  overflow: (why: 'displaced' | 'full') =>
    why === 'full'
      ? new Outage('too many requests wait for Postgres')
      : new Problem('throttled', 'Too many requests of this box wait for Postgres. Try again in 1 s', {
          'Retry-After': '1',
        }),
  overdue: () => new Outage('Postgres does not answer'),
};

/** Runs the hot statements in micro-batches on a pool: requests that arrive during a statement share the next one. */
export function batchedStatements(pool: Connections, limits: BatchLimits): BatchedStatements {
  const bounds = { ...batchBounds, ...limits };
  const on = <Item, Result>(run: (connection: Connection, items: readonly Item[]) => Promise<Result>) => {
    return (items: readonly Item[]) => withConnection(pool, limits.patience, (connection) => run(connection, items));
  };
  const batched = <Item extends { readonly box: string }, Result>(
    run: (connection: Connection, items: readonly Item[]) => Promise<readonly Result[]>,
  ) => createBatch(on(run), bounds, isOutage, ({ box }) => box);
  const issues = batched<NewSession, Versioned<null>>(issueAll);
  const checks = batched<SessionKey, Versioned<FoundSession | undefined>>(checkAll);
  const families = batched<FamilyKey, Versioned<boolean>>(findFamilies);
  const versions = createBatch(on(versionsOf), bounds, isOutage, (box) => box);
  const uses = batched<AssertionUse, boolean>(useAssertions);
  const entries = batched<EntryKey, { found: KnownEntry | undefined }>(findServiceAccounts);
  const signIns = batched<SignInKey, Versioned<FoundSignIn | undefined>>(findSignIns);
  const newCodes = batched<NewCode, boolean>(storeCodes);
  const codes = batched<CodeKey, Versioned<FoundCode | undefined>>(findCodes);
  const redemptions = createBatch(on(redeemCodes), bounds, isOutage, ({ session }) => session.box);
  return {
    issue: async (session) => (await issues.submit(session)).version,
    check: (key) => checks.submit(key),
    family: (key) => families.submit(key),
    version: async (box) => (await versions.submit(box)).version,
    useAssertion: (use) => uses.submit(use),
    serviceAccount: async (key) => (await entries.submit(key)).found,
    signIn: (key) => signIns.submit(key),
    storeCode: (code) => newCodes.submit(code),
    code: (key) => codes.submit(key),
    redeem: (redemption) => redemptions.submit(redemption),
  };
}

/** Checks whether an error means that Postgres cannot answer: retrying a batch's items one by one would be useless. */
export function isOutage(error: unknown): boolean {
  return toOutage(error) instanceof Outage;
}

/** Runs the hot statements one by one on a connection, inside a transaction that holds the box's row. */
export function singleStatements(connection: Connection): BatchedStatements {
  return {
    issue: async (session) => (await issueAll(connection, [session]))[0]?.version,
    check: async (key) => (await checkAll(connection, [key]))[0] ?? { version: undefined, value: undefined },
    family: async (key) => (await findFamilies(connection, [key]))[0] ?? { version: undefined, value: false },
    version: async (box) => (await versionsOf(connection, [box]))[0]?.version,
    useAssertion: async (use) => (await useAssertions(connection, [use]))[0] ?? false,
    serviceAccount: async (key) => (await findServiceAccounts(connection, [key]))[0]?.found,
    signIn: async (key) => (await findSignIns(connection, [key]))[0] ?? { version: undefined, value: undefined },
    storeCode: async (code) => (await storeCodes(connection, [code]))[0] ?? false,
    code: async (key) => (await findCodes(connection, [key]))[0] ?? { version: undefined, value: undefined },
    redeem: async (redemption) => (await redeemCodes(connection, [redemption]))[0] ?? false,
  };
}
