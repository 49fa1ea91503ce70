import type { CountedRow } from '../core/counted-pages.ts';
import type { NewestDefinition, NewestOfBox } from '../core/newest-pages.ts';
import { fixedText } from '../core/statement.ts';
import { storedEvent } from './audit-event.ts';
import type { AuditColumns, StoredAuditEvent } from './audit-event.ts';

type Columns = AuditColumns & CountedRow;

/** Records of the audit trail of a box, newest first. */
export const auditEventsBefore: NewestDefinition<NewestOfBox, Columns, StoredAuditEvent> = {
  reading: fixedText('SELECT * FROM boxgate.audit_events_before($1,$2,$3,$4)'),
  rowOf: storedEvent,
};
