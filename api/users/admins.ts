import type { NoteEvent } from '../audit/recorded.ts';
import type { Fault } from '../../crds/fault.ts';
import { readBootstrapped, writeBootstrapped } from '../db/box/box.ts';
import { findUse } from '../db/box/box-use.ts';
import { Outage } from '../db/core/outage.ts';
import { inBox } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import type { StoredPassword } from '../db/user.ts';
import { userOfEmail } from '../db/user.ts';
import { insertUser, setGroupsOfUser } from '../db/user-write.ts';
import type { FirstAdmins } from '../apply/plan.ts';
import { groupOfName, insertGroup } from '../db/group.ts';
import { readResource } from '../db/resource/resource.ts';
import { storeResources } from '../db/resource/store.ts';
import { resourceEvent } from '../records/write/changed-fields.ts';
import { quotaFault } from '../records/write/change.ts';
import { newUserEvents } from './user-events.ts';
import { emailKey } from './email.ts';
import { passwordFaults } from './password-faults.ts';
import type { ResourceServices } from '../records/services.ts';

/** Creates first admins: a user in the group `admins`, and a policy that allows the group everything. */
export function createFirstAdmins(services: Pick<ResourceServices, 'pool' | 'passwords'>): FirstAdmins {
  return {
    async prepare(box, settings, { email, password }, isFresh) {
      const key = emailKey(email);
      if (key === undefined) return { faults: [{ path: 'bootstrap_admin.email', message: 'must be an email' }] };
      const isThere = !isFresh && (await isKnown(services, box, key));
      const weak = isThere ? [] : await passwordFaults(password, settings, 'bootstrap_admin.passwordSecretRef');
      const faults = isThere || isFresh ? weak : [...weak, ...(await quotaFaults(services, box))];
      if (faults.length > 0) return { faults };
      const stored = isThere ? undefined : await services.passwords.store(password, { box, member: 'apply' });
      return {
        store: (connection, version, note) => storeAdmin(connection, { box, version, note }, { key, password: stored }),
      };
    },
  };
}

/** Checks whether nobody has to be created: this admin was created before, or a user has the email. */
function isKnown({ pool }: Pick<ResourceServices, 'pool'>, box: string, key: string): Promise<boolean> {
  return inBox(pool, box, 'snapshot', async (connection) => {
    if ((await readBootstrapped(connection, box)) === key) return true;
    return (await userOfEmail(connection, box, key)) !== undefined;
  });
}

/** Returns the fault of a box that has no room for the admin, who is counted like any other user. */
function quotaFaults({ pool }: Pick<ResourceServices, 'pool'>, box: string): Promise<readonly Fault[]> {
  return inBox(pool, box, 'snapshot', async (connection) => {
    const found = await findUse(connection, box);
    if (found === undefined || found.use.users < found.quota.users) return [];
    return [{ ...quotaFault('users', found), path: 'bootstrap_admin' }];
  });
}

interface FirstAdmin {
  /** Normal form of the email. */
  readonly key: string;
  /** Undefined: nobody had to be created. */
  readonly password: StoredPassword | undefined;
}

interface Apply {
  readonly box: string;
  readonly version: number;
  readonly note: NoteEvent;
}

async function storeAdmin(
  connection: Connection,
  { box, version, note }: Apply,
  { key, password }: FirstAdmin,
): Promise<void> {
  if ((await readBootstrapped(connection, box)) === key) return;
  await writeBootstrapped(connection, box, key);
  const group = await groupOfAdmins(connection, box, version, note);
  await allowAdmins(connection, box, version, note);
  if ((await userOfEmail(connection, box, key)) !== undefined) return;
  if (password === undefined) throw new Outage('a user was deleted while the box was applied');
  const admin = { email: key, emailKey: key, emailVerified: true, password, data: null, status: null };
  const user = await insertUser(connection, box, admin);
  // Somebody has just registered with the email: an existing user is left alone.
  if (user === undefined) return;
  await setGroupsOfUser(connection, box, user, [group]);
  for (const event of newUserEvents('user.created', user, [group])) note(event);
}

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
