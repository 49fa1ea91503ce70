import { readFilledDays } from './audit/audit-days.ts';
import { readAuditEvent } from './audit/audit-event.ts';
import type { StoredAuditEvent } from './audit/audit-event.ts';
import { findAuditEvent } from './audit/audit-statement.ts';
import type { AuditKey } from './audit/audit-statement.ts';
import { batchBounds } from './core/batch-bounds.ts';
import type { Connections } from './core/pool.ts';
import type { ReadRecord } from './core/read-record.ts';
import { batchesOn } from './core/statement-batches.ts';
import type { Statement } from './core/statement.ts';
import { inBox } from './core/transaction.ts';
import type { Connection } from './core/transaction.ts';
import { findResource } from './resource/resource-statement.ts';
import type { ResourceOfBox } from './resource/resource-statement.ts';
import { readResource } from './resource/resource.ts';
import type { StoredResource } from './resource/resource.ts';
import type { SessionRecord } from './session/record.ts';
import { findSessionRecord } from './session/session-statement.ts';
import type { SessionOfBox } from './session/session-statement.ts';
import { readSession } from './session/session.ts';
import { findGrant } from './user/grant-statement.ts';
import type { GrantOfBox } from './user/grant-statement.ts';
import { readGrant } from './user/grant.ts';
import type { StoredGrant } from './user/grant.ts';
import { findGroup } from './user/group-statement.ts';
import type { GroupOfBox } from './user/group-statement.ts';
import { readGroup } from './user/group.ts';
import type { StoredGroup } from './user/group.ts';
import { findUser } from './user/user-statement.ts';
import type { UserOfBox } from './user/user-statement.ts';
import { readUser } from './user/user.ts';
import type { StoredUser } from './user/user.ts';

/** Reads of single records; undefined: there is no such record. Each throws Outage. */
export interface RecordReads {
  readonly resource: (key: ResourceOfBox) => Promise<StoredResource | undefined>;
  readonly user: (key: UserOfBox) => Promise<StoredUser | undefined>;
  readonly session: (key: SessionOfBox) => Promise<SessionRecord | undefined>;
  readonly group: (key: GroupOfBox) => Promise<StoredGroup | undefined>;
  readonly grant: (key: GrantOfBox) => Promise<StoredGrant | undefined>;
  readonly auditEvent: (key: AuditKey) => Promise<StoredAuditEvent | undefined>;
}

/**
 * Rows of one statement: each has at most 2 KB of content. One statement of each kind is in flight, so that reads of
 * all boxes leave the pool to the rest.
 */
const bounds = { ...batchBounds, size: 64, inFlight: 1 };

/** Reads records in micro-batches on a pool; one that is large, or elsewhere, in a transaction of its own. */
export function createRecordReads(pool: Connections): RecordReads {
  const runner = batchesOn(pool, bounds);
  // Each of these items may count 2,000 memberships, or have 50 targets.
  const shortRunner = batchesOn(pool, { ...bounds, size: 16 });
  function reads<Key extends { readonly box: string }, Row>(
    statement: Statement<Key, ReadRecord<Row>>,
    alone: (connection: Connection, key: Key) => Promise<Row | undefined>,
    batches = runner,
  ): (key: Key) => Promise<Row | undefined> {
    const read = batches(statement);
    return async (key) => {
      const { row, isForTransaction = false } = await read(key);
      return isForTransaction ? inBox(pool, key.box, 'snapshot', (connection) => alone(connection, key)) : row;
    };
  }
  return {
    resource: reads(findResource, (connection, { box, ...key }) => readResource(connection, box, key)),
    user: reads(findUser, (connection, { box, id }) => readUser(connection, box, id)),
    session: reads(findSessionRecord, (connection, { box, id, now }) => readSession(connection, box, { id }, now)),
    group: reads(findGroup, (connection, { box, id }) => readGroup(connection, box, id), shortRunner),
    grant: reads(findGrant, (connection, { box, ...key }) => readGrant(connection, box, key), shortRunner),
    auditEvent: reads(findAuditEvent, async (connection, { box, id }) =>
      readAuditEvent(connection, box, id, await readFilledDays(connection)),
    ),
  };
}
