import type { Log } from '../../program/log.ts';
import type { StoredAuditEvent } from '../db/audit/audit-event.ts';
import { auditRecord } from './audit-record.ts';

/** Returns a function that writes records of a box to a log, one line a record: its member `audit` has the record. */
export function auditLines(log: Log) {
  return (box: string, records: readonly StoredAuditEvent[]): void => {
    for (const record of records) log.info({ audit: auditRecord(box, record) }, 'audit event');
  };
}
