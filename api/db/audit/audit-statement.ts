import { answersOf, type RowOfItem } from '../core/answers.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { ReadRecord } from '../core/read-record.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement } from '../core/statement.ts';
import { storedEvent } from './audit-event.ts';
import type { AuditColumns, StoredAuditEvent } from './audit-event.ts';

/** Key of a record of the audit trail among all boxes. */
export interface AuditKey {
  readonly box: string;
  readonly id: string;
}

const reading = fixedText('SELECT * FROM boxgate.read_audit_events($1,$2)');

/** Reads records that are on the likely day; one that is not found there is left to a transaction. */
export const findAuditEvent: Statement<AuditKey, ReadRecord<StoredAuditEvent>> = {
  boxOf: ({ box }) => box,
  run: async (db, keys) => {
    const rows = await db.rows<AuditColumns & RowOfItem>(reading, [
      arrayLiteral(keys, ({ box }) => quoted(box)),
      arrayLiteral(keys, ({ id }) => id),
    ]);
    return answersOf(keys, rows, (row) =>
      row === undefined ? { row, isForTransaction: true } : { row: storedEvent(row) },
    );
  },
};
