import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { NewestDefinition, NewestOfBox, NewestRow } from '../core/newest-pages.ts';
import { fixedText } from '../core/statement.ts';
import { storedEvent } from './audit-event.ts';
import type { AuditColumns, StoredAuditEvent } from './audit-event.ts';

type Columns = AuditColumns & NewestRow;

const reading = fixedText('SELECT * FROM boxgate.first_audit_events($1,$2,$3)');

/** Reads the newest records of the audit trail of boxes. */
export const firstAuditEvents: NewestDefinition<NewestOfBox, Columns, StoredAuditEvent> = {
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ limit }) => String(limit)),
      arrayLiteral(searches, ({ most }) => String(most)),
    ]),
  rowOf: storedEvent,
};
