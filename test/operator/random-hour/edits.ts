import type { Random } from '../../support/random.ts';
import { newSecret, newSpec, type Fleet, type Slot, type Spec } from './fleet.ts';

/** One change that an admin makes to the objects of a slot; whether there was anything to do. */
export type Edit = (slot: Slot, fleet: Fleet, random: Random) => Promise<boolean>;

/** Every kind of edit, by its name. */
export const edits = {
  secret: change(async (spec, slot, fleet) => {
    switch (slot.form) {
      case 'inline':
        return { ...spec, secret: newSecret(slot) };
      case 'reference':
        return { ...spec, secretRef: { name: otherOf(slot, spec), key: 'secret' } };
      case 'generated':
        return { ...spec, generateSecret: { name: `${slot.id}-${String(slot.next())}` } };
      case 'account':
        return { ...spec, service_accounts: [await accepted(slot, fleet)] };
    }
  }),
  /** Between a grant that gets a token by the credential alone, and one that does not. */
  grant: change((spec) => ({ ...spec, grant_types: [isMachine(spec) ? 'password' : 'client_credentials'] })),
  scope: change((spec, _slot, _fleet, random) => ({
    ...spec,
    scope: random.pick([['read'], ['write'], ['read', 'write']]),
  })),
  active: change((spec) => ({ ...spec, active: spec['active'] === false })),
  suspend: change((spec) => ({ ...spec, suspend: spec['suspend'] !== true })),
  name: change((spec, slot) => ({ ...spec, name: `Name ${String(slot.next())}`, first_party: slot.next() % 4 === 0 })),
  /** Deleted, and created again under its name as soon as it is gone. */
  async again(slot, fleet) {
    const [name] = slot.specs.keys();
    if (name !== undefined) await fleet.remove(slot, name);
    return name !== undefined;
  },
  /** The same id under another name: the new object waits until the old one is gone. */
  async rename(slot, fleet) {
    const [name] = slot.specs.keys();
    if (name === undefined) return false;
    await fleet.declare(slot, `${slot.id}-${String(slot.next())}`, newSpec(slot));
    await fleet.remove(slot, name);
    return true;
  },
  /** A second object of the same id; or, where there is one, the end of one of the two. */
  async duplicate(slot, fleet, random) {
    const [name, other] = slot.specs.keys();
    if (name === undefined) return false;
    if (other === undefined) await fleet.declare(slot, `${slot.id}-${String(slot.next())}`, newSpec(slot));
    else await fleet.remove(slot, random.pick([name, other]));
    return true;
  },
} as const satisfies Record<string, Edit>;

/** Creates the objects of a slot again that have gone; whether the slot has any. */
export async function revive(slot: Slot, fleet: Fleet): Promise<boolean> {
  for (const name of slot.going) {
    if (!(await fleet.hasGone(slot, name)) || slot.specs.size > 0) continue;
    await fleet.declare(slot, name, newSpec(slot));
  }
  return slot.specs.size > 0;
}

/** An edit that changes the spec of one of the objects. */
function change(next: (spec: Spec, slot: Slot, fleet: Fleet, random: Random) => Spec | Promise<Spec>): Edit {
  return async (slot, fleet, random) => {
    const names = [...slot.specs];
    const found = names[random.below(names.length)];
    if (found === undefined) return false;
    const [name, spec] = found;
    // What only newer definitions have is left out again.
    const { next_year: _newer, ...known } = spec;
    return fleet.declare(slot, name, await next(known, slot, fleet, random));
  };
}

function isMachine({ grant_types: grants }: Spec): boolean {
  return Array.isArray(grants) && grants.includes('client_credentials');
}

function otherOf({ id }: Slot, { secretRef }: Spec): string {
  return JSON.stringify(secretRef).includes(`"${id}-a"`) ? `${id}-b` : `${id}-a`;
}

/** The ServiceAccount that is there, whichever it is; an entry without a uid where there is none. */
async function accepted(slot: Slot, fleet: Fleet): Promise<object> {
  const uid = await fleet.accountUid(slot);
  return { namespace: slot.box, name: slot.id, ...(uid === undefined ? {} : { uid }) };
}
