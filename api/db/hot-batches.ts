import type pg from 'pg';
import { findServiceAccounts, useAssertions } from './assertion-statements.ts';
import { createBatch } from './batch.ts';
import { checkAll } from './check-statement.ts';
import { findCodes, redeemCodes, storeCodes } from './code-statements.ts';
import { findFamilies } from './family-statement.ts';
import type {
  AssertionUse,
  CodeKey,
  EntryKey,
  FamilyKey,
  FoundCode,
  FoundSession,
  FoundSignIn,
  HotStatements,
  KnownEntry,
  NewCode,
  NewSession,
  Redemption,
  SessionKey,
  SignInKey,
  Versioned,
} from './hot-statements.ts';
import { issueAll, versionsOf } from './issue-statement.ts';
import { Outage, sorted } from './outage.ts';
import { findSignIns } from './sign-in-statement.ts';
import type { Connection } from './transaction.ts';
import { withConnection } from './with-connection.ts';

/** Requests that share a statement at most, statements in flight at once, and requests that may wait, and how long. */
export interface HotLimits {
  readonly size: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** Milliseconds after which a request is told that Postgres does not answer. */
  readonly patience: number;
}

/** Limits that ship: two connections were as good as more (measured), a batch of a few hundred costs a few milliseconds. */
export const defaultHotLimits: HotLimits = { size: 256, inFlight: 2, waiting: 20_000, patience: 1_600 };

/** The bounds of every batch of requests, with the limits that ship. */
export const batchBounds = {
  ...defaultHotLimits,
  overflow: () => new Outage('too many requests wait for Postgres'),
  overdue: () => new Outage('Postgres does not answer'),
};

/** The hot statements in micro-batches on a pool: requests that arrive while statements are in flight share the next. */
export function batchedStatements(pool: pg.Pool, limits: HotLimits): HotStatements {
  const bounds = { ...batchBounds, ...limits };
  const on = <Item, Result>(run: (connection: Connection, items: readonly Item[]) => Promise<Result>) => {
    return (items: readonly Item[]) => withConnection(pool, limits.patience, (connection) => run(connection, items));
  };
  const issues = createBatch(on<NewSession, readonly Versioned<null>[]>(issueAll), bounds, isOutage);
  const checks = createBatch(
    on<SessionKey, readonly Versioned<FoundSession | undefined>[]>(checkAll),
    bounds,
    isOutage,
  );
  const families = createBatch(on<FamilyKey, readonly Versioned<boolean>[]>(findFamilies), bounds, isOutage);
  const versions = createBatch(on<string, readonly Versioned<null>[]>(versionsOf), bounds, isOutage);
  const uses = createBatch(on<AssertionUse, readonly boolean[]>(useAssertions), bounds, isOutage);
  const entries = createBatch(
    on<EntryKey, readonly { found: KnownEntry | undefined }[]>(findServiceAccounts),
    bounds,
    isOutage,
  );
  const signIns = createBatch(
    on<SignInKey, readonly Versioned<FoundSignIn | undefined>[]>(findSignIns),
    bounds,
    isOutage,
  );
  const newCodes = createBatch(on<NewCode, readonly boolean[]>(storeCodes), bounds, isOutage);
  const codes = createBatch(on<CodeKey, readonly Versioned<FoundCode | undefined>[]>(findCodes), bounds, isOutage);
  const redemptions = createBatch(on<Redemption, readonly boolean[]>(redeemCodes), bounds, isOutage);
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

/** Whether an error means that Postgres cannot answer, so that trying a batch's items one by one is of no use. */
export function isOutage(error: unknown): boolean {
  return sorted(error) instanceof Outage;
}

/** The hot statements one by one on a connection, inside a transaction that holds the box's row. */
export function singleStatements(connection: Connection): HotStatements {
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
