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
import { findUser } from './user/user-statement.ts';
import type { UserOfBox } from './user/user-statement.ts';
import { readUser } from './user/user.ts';
import type { StoredUser } from './user/user.ts';

/** Reads of single records; undefined: there is no such record. Each throws Outage. */
export interface RecordReads {
  readonly resource: (key: ResourceOfBox) => Promise<StoredResource | undefined>;
  readonly user: (key: UserOfBox) => Promise<StoredUser | undefined>;
  readonly session: (key: SessionOfBox) => Promise<SessionRecord | undefined>;
}

/**
 * Rows of one statement: each has at most 2 KB of content. One statement of each kind is in flight, so that reads of
 * all boxes leave the pool to the rest.
 */
const bounds = { ...batchBounds, size: 64, inFlight: 1 };

/** Reads records in micro-batches on a pool; one that is large, or elsewhere, in a transaction of its own. */
export function createRecordReads(pool: Connections): RecordReads {
  const runner = batchesOn(pool, bounds);
  function reads<Key extends { readonly box: string }, Row>(
    statement: Statement<Key, ReadRecord<Row>>,
    alone: (connection: Connection, key: Key) => Promise<Row | undefined>,
  ): (key: Key) => Promise<Row | undefined> {
    const read = runner(statement);
    return async (key) => {
      const { row, isForTransaction = false } = await read(key);
      return isForTransaction ? inBox(pool, key.box, 'snapshot', (connection) => alone(connection, key)) : row;
    };
  }
  return {
    resource: reads(findResource, (connection, { box, ...key }) => readResource(connection, box, key)),
    user: reads(findUser, (connection, { box, id }) => readUser(connection, box, id)),
    session: reads(findSessionRecord, (connection, { box, id, now }) => readSession(connection, box, { id }, now)),
  };
}
