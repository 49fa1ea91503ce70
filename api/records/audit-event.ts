import { auditElements, auditRecord } from '../audit/audit-record.ts';
import { auditEvents, isAuditEventName } from '../audit/events.ts';
import { readFilledDays } from '../db/audit/audit-days.ts';
import { auditListing, readAuditEvent } from '../db/audit/audit-event.ts';
import type { AuditEventOfBox, AuditFilters, AuditResult } from '../db/audit/audit-event.ts';
import { inBox } from '../db/core/transaction.ts';
import { uuidShape } from '../db/core/uuid-v7.ts';
import { isRefusalReason, refusals } from '../schemas/refusals.ts';
import { usualAddress } from '../ip-address.ts';
import { readDates, clientIdIn, readUserId, readUuid, readWord, refusedParameter } from './search/values.ts';
import { search } from './search/search.ts';
import type { Searchable } from './search/search.ts';
import { defineRecord } from './record.ts';

const results = ['success', 'failure', 'denied', 'refused'] as const satisfies readonly (AuditResult | 'refused')[];

/** The search in the audit trail; `client`, `user` and `remote_addr` are those of the actor. */
const auditSearch: Searchable<AuditEventOfBox, AuditFilters> = {
  elements: new Set(auditElements),
  sorts: auditListing.orders,
  sort: '-created_at',
  filters: {
    id: (text, name) => ({ id: readUuid(name, text, 'record') }),
    event: (text, name) => ({ event: readEvent(name, text) }),
    result: (text, name) => ({ result: readWord(name, text, results) }),
    reason: (text, name) => ({ reason: readReason(name, text) }),
    client: (text) => ({ client: clientIdIn(text) }),
    user: (text, name) => ({ user: readUserId(name, text) }),
    remote_addr: (text, name) => ({ remoteAddr: readAddress(name, text) }),
    target: (text, name) => ({ target: readTarget(name, text) }),
    member: (text, name) => ({ member: readUserId(name, text) }),
    session: (text, name) => ({ session: readUuid(name, text, 'session') }),
    request_id: (text) => ({ requestId: text }),
  },
  ranges: { created_at: (texts, name) => ({ createdAt: readDates(name, texts) }) },
  find: async ({ pool }, box, request) => {
    const order = auditListing.orders[request.sort.field];
    if (order === undefined) throw new TypeError(`a list without the order ${request.sort.field}`);
    const found = await inBox(pool, box, 'snapshot', async (connection) => {
      const filters = { ...request.filters, days: await readFilledDays(connection) };
      return search(request, {
        count: (most) => auditListing.count(connection, { box, filters }, most),
        read: (span) => auditListing.read(connection, { box, filters }, order, span),
        keyOf: (row) => order.map((column) => column.keyOf(row)),
      });
    });
    return { ...found, rows: found.rows.map((row) => ({ ...row, box })) };
  },
};

/** Records of the audit trail: they are read, never written. */
export const auditEvent = defineRecord({
  kind: 'AuditEvent',
  search: auditSearch,
  view: ({ box, ...stored }: AuditEventOfBox) => auditRecord(box, stored),
  // A record never changes.
  version: ({ id }) => id,
  idOf: (text) => (uuidShape.test(text) ? text : undefined),
  read: async (connection, box, id) => {
    const found = await readAuditEvent(connection, box, id);
    return found && { ...found, box };
  },
});

function readEvent(name: string, text: string): string {
  if (isAuditEventName(text)) return text;
  throw refusedParameter(name, `must be one of ${Object.keys(auditEvents).join(', ')}`);
}

function readReason(name: string, text: string): string {
  if (isRefusalReason(text)) return text;
  throw refusedParameter(name, `must be one of ${Object.keys(refusals).join(', ')}`);
}

/** Reads an address in any spelling: records have it in its usual form (RFC 5952). */
function readAddress(name: string, text: string): string {
  const address = usualAddress(text);
  if (address === undefined) throw refusedParameter(name, 'must be one address, such as 192.0.2.7 or 2001:db8::7');
  return address;
}

function readTarget(name: string, text: string): string {
  if (/^[A-Za-z]{1,32}\//.test(text)) return text;
  throw refusedParameter(name, 'must be a kind and an id, such as User/7');
}
