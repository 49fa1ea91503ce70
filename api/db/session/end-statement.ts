import { columnsOf } from '../audit/audit-event.ts';
import type { StoredAuditEvent } from '../audit/audit-event.ts';
import { answersOf, type RowOfItem } from '../core/answers.ts';
import { arrayLiteral, quoted, sparseArrayLiteral } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection } from '../core/statement.ts';
import { endedColumns, sessionRecord } from './record.ts';
import type { SessionColumns, SessionRecord } from './record.ts';
import type { SessionEnding } from './session.ts';

/** End of a session, as it was requested. */
export interface RequestedEnding extends SessionEnding {
  readonly box: string;
  readonly id: string;
  /** Buckets that may hold the session, the likeliest first; only the first three are read. */
  readonly buckets: readonly number[];
  /** Record of the audit trail that is stored with the end; null: the caller records it in another way. */
  readonly record: StoredAuditEvent | null;
}

/**
 * Ends active sessions without a refresh family, each with its record, and returns each as it is afterwards. Null: the
 * session was not ended here, and only a transaction can tell why, or end it. It never waits for a lock of a row.
 */
export const endActiveSession: Statement<RequestedEnding, SessionRecord | null> = {
  run: endAll,
  boxOf: ({ box }) => box,
  needsConfirmation: true,
};

const ending = fixedText(`SELECT ${endedColumns} FROM boxgate.end_sessions($1,$2,$3,$4,$5,$6,$7,$8)`);

type EndedRow = Omit<SessionColumns, 'status'> & RowOfItem & { readonly ended_as: SessionEnding['as'] };

async function endAll(
  db: StatementConnection,
  endings: readonly RequestedEnding[],
): Promise<readonly (SessionRecord | null)[]> {
  const rows = await db.rows<EndedRow>(ending, [
    arrayLiteral(endings, ({ box }) => quoted(box)),
    arrayLiteral(endings, ({ id }) => id),
    ...[0, 1, 2].map((nth) => arrayLiteral(endings, ({ buckets }) => String(buckets[nth] ?? 'NULL'))),
    arrayLiteral(endings, ({ as }) => as),
    arrayLiteral(endings, ({ now }) => String(now)),
    sparseArrayLiteral(endings, ({ record }) => record && quoted(JSON.stringify(columnsOf(record)))),
  ]);
  return answersOf(endings, rows, (row) =>
    row === undefined ? null : sessionRecord({ ...row, status: row.ended_as }),
  );
}
