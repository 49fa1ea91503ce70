import { isObject } from '../../../crds/path.ts';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { forEachConcurrently } from '../../../operator/kube/client/kube-object.ts';
import type { ControlPlane } from '../../support/cluster/control-plane.ts';
import { bindSecrets } from '../install-operator.ts';
import { clientPath, patientCall, readClient } from './found-client.ts';
import type { Journal } from './journal.ts';

/** Kinds of a Client's credential. */
export type Form = 'inline' | 'reference' | 'generated' | 'account';

/** The spec of a Client, as it is declared next. */
export type Spec = Readonly<Record<string, unknown>>;

/** An id of a box, and the objects that declare it: mostly one. */
export interface Slot {
  readonly box: string;
  readonly id: string;
  readonly form: Form;
  /** Specs by the name of their object, as the API server took them last. */
  readonly specs: Map<string, Spec>;
  /** Names of objects that were deleted, and may wait with their deletion. */
  readonly going: Set<string>;
  /** Every secret that was ever declared for the id. */
  readonly secrets: string[];
  /** Counts names and texts. */
  next(): number;
}

/** Many Clients in many boxes, as their admins see them. */
export interface Fleet {
  readonly boxes: readonly string[];
  readonly slots: readonly Slot[];
  /** Declares a Client; whether the API server took it. */
  declare(slot: Slot, name: string, spec: Spec): Promise<boolean>;
  /** Asks for the end of an object; does not wait for it. */
  remove(slot: Slot, name: string): Promise<void>;
  /** Checks whether a deleted object is gone; it can then be declared again. */
  hasGone(slot: Slot, name: string): Promise<boolean>;
  /** Deletes the ServiceAccount of a slot, if it is there. */
  removeAccount(slot: Slot): Promise<void>;
  /** Creates the ServiceAccount of a slot, if it is not there. */
  createAccount(slot: Slot): Promise<void>;
  /** Uid of the ServiceAccount of a slot; undefined where it is not there. */
  accountUid(slot: Slot): Promise<string | undefined>;
  secretsOf(box: string, id: string): readonly string[];
  /** Returns the API server's message about the last object that it rejected. */
  refused(): string;
}

const forms: readonly Form[] = ['inline', 'generated', 'inline', 'account', 'reference'];

/** Creates the boxes with what the Clients need, and declares each Client; waits for none of them. */
export async function createFleet(
  plane: ControlPlane,
  journal: Journal,
  size: { readonly boxes: number; readonly clients: number },
): Promise<Fleet> {
  const boxes = await Promise.all(Array.from({ length: size.boxes }, () => plane.namespace('hour')));
  await forEachConcurrently(boxes, (box) => bindSecrets(plane, box));
  const slots = Array.from({ length: size.clients }, (_, nth) => {
    return newSlot(
      boxes[nth % boxes.length] ?? '',
      `c${String(nth)}`,
      forms[Math.floor(nth / boxes.length) % 5] ?? 'inline',
    );
  });
  const fleet = fleetOf(plane, journal, boxes, slots);
  await forEachConcurrently(slots, async (slot) => {
    await createNeeds(plane, slot, fleet);
    await fleet.declare(slot, slot.id, newSpec(slot));
  });
  return fleet;
}

function newSlot(box: string, id: string, form: Form): Slot {
  let count = 0;
  return { box, id, form, specs: new Map(), going: new Set(), secrets: [], next: () => (count += 1) };
}

/** The spec of a new object of a slot. */
export function newSpec(slot: Slot): Spec {
  const machine = { id: slot.id, grant_types: ['client_credentials'], scope: ['read'] };
  switch (slot.form) {
    case 'inline':
      return { ...machine, secret: newSecret(slot) };
    case 'reference':
      return { ...machine, secretRef: { name: `${slot.id}-a`, key: 'secret' } };
    case 'generated':
      return { ...machine, generateSecret: { name: `${slot.id}-${String(slot.next())}` } };
    case 'account':
      return { ...machine, service_accounts: [{ namespace: slot.box, name: slot.id }] };
  }
}

/** A secret that was never declared before. */
export function newSecret({ secrets }: Slot): string {
  const secret = generateClientSecret();
  secrets.push(secret);
  return secret;
}

async function createNeeds(plane: ControlPlane, slot: Slot, fleet: Fleet): Promise<void> {
  if (slot.form === 'account') await fleet.createAccount(slot);
  if (slot.form !== 'reference') return;
  for (const which of ['a', 'b']) {
    const metadata = { name: `${slot.id}-${which}`, labels: { 'boxgate.dev/client-secret': 'true' } };
    const body = { metadata, stringData: { secret: newSecret(slot) } };
    await patientCall(plane, { method: 'POST', path: `/api/v1/namespaces/${slot.box}/secrets`, body });
  }
}

function fleetOf(plane: ControlPlane, journal: Journal, boxes: readonly string[], slots: readonly Slot[]): Fleet {
  const accounts = (box: string, name = ''): string =>
    `/api/v1/namespaces/${box}/serviceaccounts${name === '' ? '' : `/${name}`}`;
  let refusal = '';
  const byId = new Map(slots.map((slot) => [`${slot.box}/${slot.id}`, slot]));
  return {
    boxes,
    slots,
    async declare(slot, name, spec) {
      const path = `${clientPath(slot.box, name)}?fieldManager=admin&force=true`;
      const body = { apiVersion: 'boxgate.dev/v1', kind: 'Client', metadata: { name }, spec };
      const contentType = 'application/apply-patch+yaml';
      const answer = await patientCall(plane, { method: 'PATCH', path, body, contentType });
      const isTaken = answer.status < 300;
      const metadata = isObject(answer.body) && isObject(answer.body['metadata']) ? answer.body['metadata'] : {};
      const what = isTaken
        ? `generation ${String(metadata['generation'])} ${shown(slot, spec)}`
        : JSON.stringify(answer.body);
      journal.note(isTaken ? 'declared' : 'not taken by the API server', what, `${slot.box}/${name}`);
      if (isTaken) slot.specs.set(name, spec);
      else refusal = what;
      return isTaken;
    },
    async remove(slot, name) {
      await patientCall(plane, { method: 'DELETE', path: clientPath(slot.box, name) });
      journal.note('deleted', '', `${slot.box}/${name}`);
      slot.going.add(name);
      slot.specs.delete(name);
    },
    async hasGone(slot, name) {
      if (!slot.going.has(name)) return true;
      if ((await readClient(plane, slot.box, name)) !== undefined) return false;
      return slot.going.delete(name);
    },
    async removeAccount({ box, id }) {
      await patientCall(plane, { method: 'DELETE', path: accounts(box, id) });
      journal.note('ServiceAccount deleted', '', `${box}/${id}`);
    },
    async createAccount({ box, id }) {
      const body = { metadata: { name: id } };
      const { status } = await patientCall(plane, { method: 'POST', path: accounts(box), body });
      if (status === 201) journal.note('ServiceAccount created', '', `${box}/${id}`);
    },
    async accountUid({ box, id }) {
      const { status, body } = await patientCall(plane, { path: accounts(box, id) });
      const metadata = isObject(body) && isObject(body['metadata']) ? body['metadata'] : {};
      return status === 200 ? String(metadata['uid']) : undefined;
    },
    refused: () => refusal,
    secretsOf: (box, id) => byId.get(`${box}/${id}`)?.secrets ?? [],
  };
}

/** A spec without its secret, which is told by its number. */
function shown({ secrets }: Slot, { secret, ...spec }: Spec): string {
  const told = typeof secret === 'string' ? { secret: `number ${String(secrets.indexOf(secret))}` } : {};
  return JSON.stringify({ ...spec, ...told });
}
