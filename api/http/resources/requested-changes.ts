import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { Problem } from '../../problem.ts';
import { accessPolicy } from '../../records/access-policy.ts';
import { client } from '../../records/client.ts';
import { group } from '../../records/group.ts';
import { session } from '../../records/session.ts';
import type { RecordKind } from '../../records/record.ts';
import type { ResourceServices } from '../../records/services.ts';
import { user } from '../../records/user.ts';
import type { ResourceExchange, ResourceKind } from './resource-exchange.ts';
import { requestedChange } from '../formats/parse-body.ts';

type ReadingServices = Pick<ResourceServices, 'pool' | 'now'>;

/** A request to write a record, before it is granted. */
export type RequestedWrite = Pick<ResourceExchange, 'box' | 'id' | 'body' | 'contentType'> & {
  readonly method: string | undefined;
};

/**
 * Returns the names of the fields of the stored record that a request would change, in one read; none when it cannot be
 * executed as sent. Throws Outage.
 */
export async function requestedChanges(
  kind: ResourceKind | 'User',
  write: RequestedWrite,
  { pool, now }: ReadingServices,
): Promise<readonly string[]> {
  try {
    return await inBox(pool, write.box, 'snapshot', (connection) => readers[kind](write, connection, now()));
  } catch (error) {
    // The handler finds the same problem, and reports it to callers who may write.
    if (error instanceof Problem) return [];
    throw error;
  }
}

type Reader = (write: RequestedWrite, connection: Connection, now: number) => Promise<readonly string[]>;

const readers: Readonly<Record<ResourceKind | 'User', Reader>> = {
  Client: recordReader(client),
  AccessPolicy: recordReader(accessPolicy),
  Session: recordReader(session),
  Group: recordReader(group),
  User: recordReader(user),
  // Nothing of these can be changed.
  Grant: () => Promise.resolve([]),
  AuditEvent: () => Promise.resolve([]),
};

function recordReader<Row, Filters, Id>(record: RecordKind<string, Row, Filters, Id>): Reader {
  const { changedFields = () => [], idOf, put, read } = record;
  return async (write, connection, now) => {
    const requested = requestedChange(write);
    if (write.id === undefined) return changedFields(undefined, requested);
    const isCreated = put !== undefined && requested.form === 'document';
    const id = idOf(write.id);
    const row = id === undefined ? undefined : await read(connection, write.box, id, now);
    return row === undefined && !isCreated ? [] : changedFields(row, requested, write.id);
  };
}
