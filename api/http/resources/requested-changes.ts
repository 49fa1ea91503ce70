import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { readResource } from '../../db/resource/resource.ts';
import { readUser } from '../../db/user/user.ts';
import { Problem } from '../../problem.ts';
import { group } from '../../records/group.ts';
import { session } from '../../records/session.ts';
import type { RecordKind } from '../../records/record.ts';
import { changedResourceFields } from '../../resources/write/changed-fields.ts';
import { patchedBody } from '../../resources/write/patch.ts';
import type { ResourceServices, StoredKind } from '../../resources/services.ts';
import { changedUserFields } from '../../users/user/changed-user-fields.ts';
import { possibleId } from './id-in-path.ts';
import type { ResourceExchange, ResourceKind } from './resource-exchange.ts';
import { documentIn, patchIn, requestedChange } from '../formats/submitted-body.ts';

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
  Client: storedReader('Client'),
  AccessPolicy: storedReader('AccessPolicy'),
  Session: recordReader(session),
  Group: recordReader(group),
  User: readUserChanges,
  // Nothing of these can be changed.
  Grant: () => Promise.resolve([]),
  AuditEvent: () => Promise.resolve([]),
};

function recordReader<Row, Filters, Id>(record: RecordKind<string, Row, Filters, Id>): Reader {
  const { changedFields = () => [], idOf, read } = record;
  return async (write, connection, now) => {
    const requested = requestedChange(write);
    if (write.id === undefined) return changedFields(undefined, requested);
    const id = idOf(write.id);
    const row = id === undefined ? undefined : await read(connection, write.box, id, now);
    return row === undefined ? [] : changedFields(row, requested);
  };
}

function storedReader(kind: StoredKind): Reader {
  return async (write, connection) => {
    const id = possibleId(kind, write.id);
    const current = id === undefined ? undefined : await readResource(connection, write.box, { kind, id });
    if (write.method !== 'PATCH') return changedResourceFields(kind, write.id, current, documentIn(write));
    return current === undefined ? [] : changedResourceFields(kind, id, current, patchedBody(current, patchIn(write)));
  };
}

async function readUserChanges(write: RequestedWrite, connection: Connection): Promise<readonly string[]> {
  const id = possibleId('User', write.id);
  const user = id === undefined ? undefined : await readUser(connection, write.box, Number(id));
  return changedUserFields(user, documentIn(write));
}
