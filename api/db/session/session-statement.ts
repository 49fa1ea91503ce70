import { answersOf, type RowOfItem } from '../core/answers.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { ReadRecord } from '../core/read-record.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection } from '../core/statement.ts';
import { endedColumns, sessionRecordAt } from './record.ts';
import type { EndedColumns, SessionRecord } from './record.ts';
import { nearBuckets } from './session-buckets.ts';

/** Key of a session among all boxes, and the time of its status in milliseconds since 1970. */
export interface SessionOfBox {
  readonly box: string;
  readonly id: string;
  readonly now: number;
}

/** Reads sessions that are in the buckets of nearly every session; another one is left to a transaction. */
export const findSessionRecord: Statement<SessionOfBox, ReadRecord<SessionRecord>> = {
  run: readAll,
  boxOf: ({ box }) => box,
};

const reading = fixedText(`SELECT ${endedColumns} FROM boxgate.sessions_by_id($1,$2,$3,$4,$5)`);

async function readAll(
  db: StatementConnection,
  keys: readonly SessionOfBox[],
): Promise<readonly ReadRecord<SessionRecord>[]> {
  const near = keys.map(({ id }) => nearBuckets(id));
  const rows = await db.rows<EndedColumns & RowOfItem>(reading, [
    arrayLiteral(keys, ({ box }) => quoted(box)),
    arrayLiteral(keys, ({ id }) => id),
    ...[0, 1, 2].map((nth) => arrayLiteral(near, (buckets) => String(buckets[nth]))),
  ]);
  return answersOf(keys, rows, (row, { now }) => {
    return row === undefined ? { row, isForTransaction: true } : { row: sessionRecordAt(row, now) };
  });
}
