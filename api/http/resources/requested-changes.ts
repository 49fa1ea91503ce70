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

type ReadingServices = Pick<ResourceServices, 'pool' | 'records' | 'now'>;

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
  services: ReadingServices,
): Promise<readonly string[]> {
  try {
    return await readers[kind](write, services);
  } catch (error) {
    // The handler finds the same problem, and reports it to callers who may write.
    if (error instanceof Problem) return [];
    throw error;
  }
}

type Reader = (write: RequestedWrite, services: ReadingServices) => Promise<readonly string[]>;

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
  return async (write, { records }) => {
    const id = possibleId(kind, write.id);
    const current = id === undefined ? undefined : await records.resource({ box: write.box, kind, id });
    if (write.method !== 'PATCH') return changedResourceFields(kind, write.id, current, documentIn(write));
    return current === undefined ? [] : changedResourceFields(kind, id, current, patchedBody(current, patchIn(write)));
  };
}

async function readSessionChanges(
  write: RequestedWrite,
  { records, now }: ReadingServices,
): Promise<readonly string[]> {
  const id = possibleId('Session', write.id);
  const session = id === undefined ? undefined : await records.session({ box: write.box, id, now: now() });
  if (session === undefined) return [];
  const present = sessionView(session);
  const wish = write.method === 'PATCH' ? patchWish(patchIn(write)) : putWish(documentIn(write));
  return changedSessionFields(present, wish(present));
}

async function readGroupChanges(write: RequestedWrite, services: ReadingServices): Promise<readonly string[]> {
  if (write.id === undefined) return changedGroupFields(undefined, documentIn(write));
  const id = possibleId('Group', write.id);
  const group = id === undefined ? undefined : await services.records.group({ box: write.box, id: Number(id) });
  return group === undefined ? [] : changedGroupFields(group, wishOf(write)(groupView(group)));
}

async function readUserChanges(write: RequestedWrite, { records }: ReadingServices): Promise<readonly string[]> {
  const id = possibleId('User', write.id);
  const user = id === undefined ? undefined : await records.user({ box: write.box, id: Number(id) });
  return changedUserFields(user, documentIn(write));
}
