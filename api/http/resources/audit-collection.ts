import { auditRecord } from '../../audit/audit-record.ts';
import { readAuditEvent } from '../../db/audit/audit-event.ts';
import type { AuditEventOfBox, AuditFilters } from '../../db/audit/audit-event.ts';
import { auditSearch } from '../../resources/search/audit-search.ts';
import type { Collection } from './collection.ts';
import { possibleId } from './id-in-path.ts';

/** The collection of records of the audit trail: they are read, never written. */
export const auditCollection: Collection<'AuditEvent', AuditEventOfBox, AuditFilters, string> = {
  kind: 'AuditEvent',
  path: '/AuditEvent',
  absent: 'There is no AuditEvent with this id',
  search: auditSearch,
  view: ({ box, ...stored }) => auditRecord(box, stored),
  // A record never changes.
  version: ({ id }) => id,
  idOf: (text) => possibleId('AuditEvent', text),
  read: async (connection, box, id) => {
    const found = await readAuditEvent(connection, box, id);
    return found && { ...found, box };
  },
};
