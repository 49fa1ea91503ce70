import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { readResource } from '../../db/resource/resource.ts';
import { readSession } from '../../db/session/session.ts';
import { readGroup } from '../../db/user/group.ts';
import { readUser } from '../../db/user/user.ts';
import { Problem } from '../../problem.ts';
import { changedResourceFields } from '../../resources/write/changed-fields.ts';
import { changedSessionFields } from '../../resources/write/changed-session-fields.ts';
import { patchedBody } from '../../resources/write/patch.ts';
import type { ResourceServices, StoredKind } from '../../resources/services.ts';
import { patchWish, putWish } from '../../resources/write/session-change.ts';
import { sessionView } from '../../resources/write/session-view.ts';
import { changedGroupFields } from '../../users/group/changed-group-fields.ts';
import { changedUserFields } from '../../users/user/changed-user-fields.ts';
import { groupView } from '../../users/group/view.ts';
import { wishOf } from './group-wish.ts';
import { possibleId } from './id-in-path.ts';
import type { ResourceExchange, ResourceKind } from './resource-exchange.ts';
import { documentIn, patchIn } from '../formats/submitted-body.ts';

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
  Session: readSessionChanges,
  Group: readGroupChanges,
  User: readUserChanges,
  // Nothing of these can be changed.
  Grant: () => Promise.resolve([]),
  AuditEvent: () => Promise.resolve([]),
};

function storedReader(kind: StoredKind): Reader {
  return async (write, connection) => {
    const id = possibleId(kind, write.id);
    const current = id === undefined ? undefined : await readResource(connection, write.box, { kind, id });
    if (write.method !== 'PATCH') return changedResourceFields(kind, write.id, current, documentIn(write));
    return current === undefined ? [] : changedResourceFields(kind, id, current, patchedBody(current, patchIn(write)));
  };
}

async function readSessionChanges(
  write: RequestedWrite,
  connection: Connection,
  now: number,
): Promise<readonly string[]> {
  const id = possibleId('Session', write.id);
  const session = id === undefined ? undefined : await readSession(connection, write.box, { id }, now);
  if (session === undefined) return [];
  const present = sessionView(session);
  const wish = write.method === 'PATCH' ? patchWish(patchIn(write)) : putWish(documentIn(write));
  return changedSessionFields(present, wish(present));
}

async function readGroupChanges(write: RequestedWrite, connection: Connection): Promise<readonly string[]> {
  if (write.id === undefined) return changedGroupFields(undefined, documentIn(write));
  const id = possibleId('Group', write.id);
  const group = id === undefined ? undefined : await readGroup(connection, write.box, Number(id));
  return group === undefined ? [] : changedGroupFields(group, wishOf(write)(groupView(group)));
}

async function readUserChanges(write: RequestedWrite, connection: Connection): Promise<readonly string[]> {
  const id = possibleId('User', write.id);
  const user = id === undefined ? undefined : await readUser(connection, write.box, Number(id));
  return changedUserFields(user, documentIn(write));
}
