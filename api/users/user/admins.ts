import type { NoteEvent } from '../../audit/recorded.ts';
import { resourceEvent } from '../../records/write/resource-event.ts';
import { groupOfName, insertGroup } from '../../db/group.ts';
import { readResource } from '../../db/resource/resource.ts';
import { storeResources } from '../../db/resource/store.ts';
import type { Connection } from '../../db/core/transaction.ts';

/** The group of admins, and the policy that allows it everything. */
export const admins = 'admins';

/** Returns the ID of the group `admins` of a box, created under this config version when it is missing. */
export async function groupOfAdmins(
  connection: Connection,
  box: string,
  version: number,
  note: NoteEvent,
): Promise<number> {
  const found = await groupOfName(connection, box, admins);
  if (found !== undefined) return found;
  const made = await insertGroup(connection, box, version, { name: admins, description: null });
  if (made === undefined) throw new Error(`the group ${admins} of box ${box} is there, and is not`);
  note({ event: 'group.created', target: `Group/${String(made.id)}` });
  return made.id;
}

/** Creates the policy that allows the group everything; an existing policy of that name is left alone. */
export async function allowAdmins(
  connection: Connection,
  box: string,
  version: number,
  note: NoteEvent,
): Promise<void> {
  const name = { kind: 'AccessPolicy', id: admins } as const;
  if ((await readResource(connection, box, name)) !== undefined) return;
  const link = [{ resourceType: 'Group', id: admins }];
  const body = { resourceType: name.kind, id: admins, engine: 'allow', link };
  await storeResources(connection, box, version, [
    { ...name, body, secrets: undefined, owner: undefined, digest: undefined },
  ]);
  note(resourceEvent('created', name));
}
