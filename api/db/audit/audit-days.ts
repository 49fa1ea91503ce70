import type { Connections } from '../core/pool.ts';
import { outsideBoxes } from '../core/transaction.ts';
import type { Connection } from '../core/transaction.ts';

/** Ensures that there are partitions for records that are kept for so many days. Throws Outage. */
export type DeclaredDays = (retention: number) => Promise<void>;

/** Milliseconds in a day. */
const day = 86_400_000;

/**
 * Creates a function that creates the partitions of a retention at most once a day in this process: they last until the
 * day after tomorrow, and upkeep creates the next ones. `now` in milliseconds since 1970.
 */
export function createDeclaredDays(make: (retention: number) => Promise<unknown>, now: () => number): DeclaredDays {
  /** Days on which partitions were created, by retention: at most 400 entries. */
  const made = new Map<number, number>();
  return async (retention) => {
    const today = Math.floor(now() / day);
    if (made.get(retention) === today) return;
    await make(retention);
    made.set(retention, today);
  };
}

/** Milliseconds that the change of one day may take: its statements have limits of their own on locks. */
const dayLimit = 10_000;

/**
 * Reads the days that hold records now, in a transaction of a box: a statement that names them locks and plans these
 * partitions only. Throws Outage.
 */
export async function readFilledDays(connection: Connection): Promise<readonly number[]> {
  const { rows } = await connection.query<{ day: number }>('SELECT boxgate.filled_days() AS day');
  return rows.map(({ day }) => day);
}

/** Creates the function of a process that ensures the partitions of a retention. */
export function declaredDaysOf({ pool, now }: { pool: Connections; now: () => number }): DeclaredDays {
  return createDeclaredDays((retention) => makeAuditDays(pool, retention), now);
}

/** Creates the partitions that records kept for `retention` days need until the day after tomorrow. Throws Outage. */
function makeAuditDays(pool: Connections, retention: number): Promise<number> {
  return outsideBoxes(pool, (connection) => makeDays(connection, retention), dayLimit);
}

async function makeDays(connection: Connection, retention: number): Promise<number> {
  const { rows } = await connection.query<{ made: number }>('SELECT boxgate.make_audit_days($1) AS made', [retention]);
  return rows[0]?.made ?? 0;
}

/** Result of {@link upkeepAuditDays}: numbers of partitions. */
export interface AuditUpkeep {
  readonly made: number;
  readonly dropped: number;
}

/**
 * Creates the partitions that records need from now on, for each retention that a box has, and drops those of days that
 * are over by the clock of the database; one that a long statement reads is dropped next time. Throws Outage.
 */
export async function upkeepAuditDays(pool: Connections): Promise<AuditUpkeep> {
  let [made, dropped] = [0, 0];
  for (const retention of await numbersOf(pool, 'SELECT retention AS number FROM boxgate.audit_retentions()')) {
    made += await makeAuditDays(pool, retention);
  }
  for (const day of await numbersOf(pool, overDays)) {
    const drop = async (connection: Connection): Promise<boolean> => {
      const { rows } = await connection.query<{ done: boolean }>('SELECT boxgate.drop_audit_day($1) AS done', [day]);
      return rows[0]?.done === true;
    };
    if (await outsideBoxes(pool, drop, dayLimit)) dropped += 1;
  }
  return { made, dropped };
}

const overDays = 'SELECT day AS number FROM boxgate.audit_day WHERE day < extract(epoch FROM now())::bigint / 86400';

function numbersOf(pool: Connections, statement: string): Promise<readonly number[]> {
  return outsideBoxes(pool, async (connection) => {
    const { rows } = await connection.query<{ number: number }>(statement);
    return rows.map(({ number }) => number);
  });
}
