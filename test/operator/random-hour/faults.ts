import { isObject } from '../../../crds/path.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { operatorNamespace } from '../../support/operator-process.ts';
import type { Random } from '../../support/random.ts';
import { declaredRights, declaredRoles, pathOfRole, rulesWithout } from '../kube/client/declared-rights.ts';
import { bindSecrets } from '../install-operator.ts';
import { listClients, patientCall, type FoundClient } from './found-client.ts';
import { edits } from './edits.ts';
import type { Fleet } from './fleet.ts';
import type { Journal } from './journal.ts';
import type { HourStage } from './stage.ts';

/** Dependencies of a fault. */
export interface FaultScene {
  readonly stage: HourStage;
  readonly fleet: Fleet;
  readonly journal: Journal;
  readonly random: Random;
}

/** Something that goes wrong for a while; it resolves when it is over. */
export type Fault = (scene: FaultScene) => Promise<void>;

/** Faults by the thing that they break: those of one lane come one after the other. */
export const faultLanes = {
  processes: { killLeader, killReplica, freezeReplica, killBoth, slowManagement, closeManagement, cutConnections },
  rights: { takeRight, takeBinding, takeSecrets },
  definitions: { olderDefinitions, newerDefinitions },
  accounts: { recreateAccount, deleteAccount, createAccounts, deletePinned },
} as const satisfies Record<string, Readonly<Record<string, Fault>>>;

/** Kills an operator, the leader as often as not. */
async function killLeader({ stage, journal, random }: FaultScene): Promise<void> {
  const nth = random.below(2);
  journal.note('killed', `operator ${String(nth)}`);
  stage.operators[nth === 0 ? 0 : 1].now()?.signal('SIGKILL');
  await sleep(random.below(1500));
}

async function killReplica({ stage, journal, random }: FaultScene): Promise<void> {
  const nth = random.below(2);
  journal.note('killed', `replica ${String(nth)}`);
  stage.replicas[nth === 0 ? 0 : 1].now()?.signal('SIGKILL');
  await sleep(random.below(1500));
}

/** One replica stands still; what it is asked it answers afterwards. */
async function freezeReplica({ stage, journal, random }: FaultScene): Promise<void> {
  const nth = random.below(2);
  const frozen = stage.replicas[nth === 0 ? 0 : 1].now();
  journal.note('frozen', `replica ${String(nth)}`);
  frozen?.signal('SIGSTOP');
  await sleep(random.below(2000));
  frozen?.signal('SIGCONT');
  journal.note('thawed', `replica ${String(nth)}`);
}

/** Nobody answers the operator for a moment, in which secrets are changed. */
async function killBoth({ stage, fleet, journal, random }: FaultScene): Promise<void> {
  journal.note('killed', 'both replicas');
  for (const one of stage.replicas) one.now()?.signal('SIGKILL');
  await changeSecrets(fleet, random);
  await sleep(random.below(1500));
}

/** Delays the operator's calls to the API: a status that precedes its commit would be noticed. */
async function slowManagement({ stage, fleet, journal, random }: FaultScene): Promise<void> {
  stage.management.delay = 200 + random.below(300);
  journal.note('slow', `management port, by ${String(stage.management.delay)} ms`);
  try {
    await changeSecrets(fleet, random);
    await sleep(1500);
  } finally {
    stage.management.delay = 0;
  }
}

/**
 * The operators reach no replica for a while, in which secrets are changed: the replicas go on, and know nothing of
 * that. It is over once a status is about such a change. Nobody may lead for a moment, so another try may be needed.
 */
async function closeManagement({ stage, fleet, journal, random }: FaultScene): Promise<void> {
  const changed = async (): Promise<() => Promise<boolean>> => {
    const before = await inlineClients(stage, fleet);
    await changeSecrets(fleet, random);
    const generations = new Map(before.map(({ uid, generation }) => [uid, generation]));
    return async () =>
      (await inlineClients(stage, fleet)).some(
        // A Client that is not in the map was created later: edits may replace every Client while there is no leader.
        ({ uid, generation, ready }) => ready !== undefined && generation > (generations.get(uid) ?? 0),
      );
  };
  for (let left = 5; left > 0; left -= 1) {
    await eventually('an operator leads', await changed(), 120_000);
    journal.note('closed', 'management port');
    stage.management.isClosed = true;
    stage.management.cut();
    try {
      const isHeard = await changed();
      const deadline = performance.now() + 10_000;
      while (performance.now() < deadline) {
        if (await isHeard()) {
          journal.note('told of a change without the API');
          await sleep(random.below(1000));
          return;
        }
        await sleep(50);
      }
    } finally {
      stage.management.isClosed = false;
      journal.note('opened', 'management port');
    }
  }
}

async function inlineClients({ plane }: HourStage, fleet: Fleet): Promise<readonly FoundClient[]> {
  const inline = fleet.slots.filter(({ form }) => form === 'inline');
  const { clients } = await listClients(plane, '');
  return clients.filter(
    ({ box, id, isGoing }) => !isGoing && inline.some((slot) => slot.box === box && slot.id === id),
  );
}

async function changeSecrets(fleet: Fleet, random: Random): Promise<void> {
  const inline = fleet.slots.filter(({ form }) => form === 'inline');
  for (let left = 5; left > 0; left -= 1) {
    const slot = inline[random.below(inline.length)];
    if (slot !== undefined) await edits.secret(slot, fleet, random);
  }
}

/** Every connection of the operators to the API server ends. */
async function cutConnections({ stage, journal, random }: FaultScene): Promise<void> {
  journal.note('cut', 'connections of the operators to the API server');
  stage.proxy.cut();
  await sleep(random.below(500));
}

/** Takes one right out of a role. */
async function takeRight({ stage: { plane }, journal, random }: FaultScene): Promise<void> {
  const rights = declaredRights();
  const right = rights[random.below(rights.length)];
  const found = declaredRoles().find(({ role }) => right !== undefined && pathOfRole(role) === pathOfRole(right.role));
  if (right === undefined || found === undefined) throw new Error('operator/rbac gives no rights');
  const { name, namespace } = found.role;
  const put = async (rules: unknown): Promise<void> => {
    const body = { metadata: { name, namespace }, rules };
    const { status } = await patientCall(plane, { method: 'PUT', path: pathOfRole(found.role), body });
    if (status !== 200) throw new Error(`${pathOfRole(found.role)}: ${String(status)}`);
  };
  journal.note('right taken', right.name);
  await put(rulesWithout(found.rules, right));
  await sleep(500 + random.below(3000));
  await put(found.rules);
  journal.note('right given back', right.name);
}

/** The operators may do nothing at all for a while. */
async function takeBinding({ stage: { plane }, journal, random }: FaultScene): Promise<void> {
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  const { body } = await patientCall(plane, { path: `${path}/boxgate-operator` });
  const { roleRef, subjects } = isObject(body) ? body : {};
  journal.note('right taken', 'ClusterRoleBinding');
  await patientCall(plane, { method: 'DELETE', path: `${path}/boxgate-operator` });
  await sleep(random.below(3000));
  const again = { metadata: { name: 'boxgate-operator' }, roleRef, subjects };
  const { status } = await patientCall(plane, { method: 'POST', path, body: again });
  if (status !== 201) throw new Error(`ClusterRoleBinding of ${operatorNamespace}: ${String(status)}`);
  journal.note('right given back', 'ClusterRoleBinding');
}

/** The operators may not touch the Secrets of one box for a while. */
async function takeSecrets({ stage: { plane }, fleet, journal, random }: FaultScene): Promise<void> {
  const box = fleet.boxes[random.below(fleet.boxes.length)] ?? '';
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${box}/rolebindings/boxgate-box`;
  journal.note('right taken', `Secrets of ${box}`);
  await patientCall(plane, { method: 'DELETE', path });
  await sleep(random.below(5000));
  await bindSecrets(plane, box);
  journal.note('right given back', `Secrets of ${box}`);
}

const schemaPath = '/spec/versions/0/schema';
const fieldsOf = `${schemaPath}/openAPIV3Schema/properties`;

type Change = Readonly<{ op: 'add' | 'remove' | 'replace'; path: string; value?: unknown }>;

const statusFields = ['secretName', 'serviceAccounts', 'policies', 'sessions', 'lastTokenAt', 'secret'] as const;

/**
 * The definition of Client lacks fields of this release; now and then somebody has edited it, and it has others too.
 */
function olderDefinitions(scene: FaultScene): Promise<void> {
  const more = scene.random.below(3) === 0 ? newer : [];
  return skew(scene, [...older(scene), ...more], () => Promise.resolve());
}

/** The definition of Client has fields of the next release, and some Clients use them. */
function newerDefinitions(scene: FaultScene): Promise<void> {
  const { fleet, random } = scene;
  return skew(scene, newer, async () => {
    for (let left = 3; left > 0; left -= 1) {
      const slot = fleet.slots[random.below(fleet.slots.length)];
      for (const [name, spec] of slot?.specs ?? [])
        if (slot !== undefined) await fleet.declare(slot, name, { ...spec, next_year: `value ${String(left)}` });
    }
  });
}

function older({ random }: FaultScene): readonly Change[] {
  const left = statusFields.filter(() => random.below(2) === 0);
  const lacking = left.length === 0 ? (['secretName'] as const) : left;
  return [
    ...lacking.map((name): Change => ({ op: 'remove', path: `${fieldsOf}/status/properties/${name}` })),
    { op: 'remove', path: `${fieldsOf}/spec/properties/first_party` },
  ];
}

const newer: readonly Change[] = [
  { op: 'add', path: `${fieldsOf}/spec/properties/next_year`, value: { type: 'string' } },
  { op: 'add', path: `${fieldsOf}/status/properties/nextYear`, value: { type: 'string' } },
];

/** Milliseconds between two looks of an operator at the definitions (decision 28): now it notices, now it does not. */
const lookPeriod = 10_000;

async function skew(
  { stage: { plane }, journal, random }: FaultScene,
  changes: readonly Change[],
  meanwhile: () => Promise<void>,
): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clients.boxgate.dev';
  const patch = async (body: readonly Change[]): Promise<void> => {
    const contentType = 'application/json-patch+json';
    const answer = await patientCall(plane, { method: 'PATCH', path, body, contentType });
    if (answer.status !== 200) throw new Error(`the definition was not changed: ${JSON.stringify(answer.body)}`);
  };
  const { body } = await patientCall(plane, { path });
  const spec = isObject(body) && isObject(body['spec']) ? body['spec'] : {};
  const version: unknown = Array.isArray(spec['versions']) ? spec['versions'][0] : undefined;
  const schema = isObject(version) ? version['schema'] : undefined;
  journal.note(
    'definition changed',
    changes.map(({ op, path: at }) => `${op} ${at.slice(fieldsOf.length)}`).join(', '),
  );
  await patch(changes);
  // The API server serves what it has taken a moment later.
  await sleep(1000);
  await meanwhile();
  await sleep(random.below(lookPeriod));
  await patch([{ op: 'replace', path: schemaPath, value: schema }]);
  journal.note('definition restored');
}

/** Deletes ServiceAccounts and creates others of their names at once: some Clients accept them later. */
async function recreateAccount({ fleet, random }: FaultScene): Promise<void> {
  for (const slot of accountsOf(fleet, random, 3)) {
    await fleet.removeAccount(slot);
    await sleep(random.below(300));
    await fleet.createAccount(slot);
  }
  await sleep(random.below(2000));
}

/** Deletes ServiceAccounts, which are not there for a while. */
async function deleteAccount({ fleet, random }: FaultScene): Promise<void> {
  for (const slot of accountsOf(fleet, random, 2)) await fleet.removeAccount(slot);
  await sleep(random.below(2000));
}

/** Creates ServiceAccounts, most of which are there. */
async function createAccounts({ fleet, random }: FaultScene): Promise<void> {
  for (const slot of accountsOf(fleet, random, 20)) await fleet.createAccount(slot);
  await sleep(random.below(1000));
}

/** Accepts a ServiceAccount by its uid, and deletes it: it may have got no token yet. */
async function deletePinned({ fleet, random }: FaultScene): Promise<void> {
  for (const slot of accountsOf(fleet, random, 2)) {
    await fleet.createAccount(slot);
    const uid = await fleet.accountUid(slot);
    for (const [name, spec] of slot.specs)
      await fleet.declare(slot, name, { ...spec, service_accounts: [{ namespace: slot.box, name: slot.id, uid }] });
    await sleep(random.below(500));
    await fleet.removeAccount(slot);
  }
}

function accountsOf(fleet: Fleet, random: Random, most: number): Fleet['slots'] {
  const all = fleet.slots.filter(({ form }) => form === 'account');
  const first = random.below(all.length);
  return [...all.slice(first), ...all.slice(0, first)].slice(0, most);
}
