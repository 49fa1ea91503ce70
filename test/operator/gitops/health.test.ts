import { expect } from 'chai';
import type { Kind } from '../../../crds/kind.ts';
import { isObject } from '../../../crds/path.ts';
import { eventually } from '../../support/eventually.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';
import { argoHealth } from './argo-health.ts';
import { kstatus, type KStatus } from './kstatus.ts';

interface HealthCase {
  readonly kind: Kind;
  readonly spec: object;
  /** Value of Ready that the object has in the end. */
  readonly ready: string;
  readonly kstatus: KStatus;
  readonly argo: string;
}

const machine = { grant_types: ['client_credentials'] };
const healthy = { ready: 'True/Ready', kstatus: 'Current', argo: 'Healthy' } as const;

const cases: Readonly<Record<string, HealthCase>> = {
  box: { kind: 'Box', spec: {}, ...healthy },
  client: { kind: 'Client', spec: machine, ...healthy },
  policy: { kind: 'AccessPolicy', spec: { engine: 'allow', subjects: 'authenticated' }, ...healthy },
  'without-effect': { kind: 'AccessPolicy', spec: { engine: 'allow' }, ...healthy },
  staff: { kind: 'Group', spec: {}, ...healthy },
  'waits-for-its-secret': {
    kind: 'Client',
    spec: { ...machine, secretRef: { name: 'later', key: 'password' } },
    ready: 'False/SecretNotFound',
    kstatus: 'InProgress',
    argo: 'Progressing',
  },
  'declared-twice': {
    kind: 'Client',
    spec: { ...machine, id: 'client' },
    ready: 'False/DeclaredTwice',
    kstatus: 'InProgress',
    argo: 'Progressing',
  },
  misspelt: {
    kind: 'AccessPolicy',
    spec: { engine: 'cel', expression: 'uri.startsWidth("/x")', subjects: 'authenticated' },
    ready: 'False/Invalid',
    kstatus: 'Failed',
    argo: 'Degraded',
  },
  suspended: {
    kind: 'Client',
    spec: { ...machine, suspend: true },
    ready: 'Unknown/Suspended',
    kstatus: 'InProgress',
    argo: 'Suspended',
  },
};

describe('the health of objects', () => {
  let rig: OperatorRig;
  let box: string;
  /** By name: the objects before any operator has seen them, and after. */
  const unseen: Record<string, unknown> = {};
  const seen: Record<string, unknown> = {};
  before(async () => {
    rig = await startOperatorRig();
    box = await rig.box();
    for (const [name, { kind, spec }] of Object.entries(cases)) {
      // Two of the same second: the one with a row keeps the id.
      if (name === 'declared-twice') continue;
      await rig.put(kind, box, name, spec);
      unseen[name] = await rig.find(kind, box, name);
    }
    await rig.operator();
    await rig.ready('Client', box, 'client');
    await rig.put('Client', box, 'declared-twice', cases['declared-twice']?.spec ?? {});
    for (const [name, { kind, ready }] of Object.entries(cases)) {
      await eventually(`${name} is ${ready}`, async () => (await rig.condition(kind, box, name)) === ready);
      seen[name] = await rig.find(kind, box, name);
    }
  });
  after(() => rig.stop());

  for (const [name, { kind, ready, kstatus: status, argo }] of Object.entries(cases)) {
    it(`of a ${kind} that is ${ready} (${name}) is ${status} for kstatus and ${argo} in Argo CD`, async () => {
      expect(kstatus(seen[name])).to.equal(status);
      const health = await argoHealth(seen[name]);
      expect(health.status).to.equal(argo);
      expect(health.message).to.be.a('string').and.not.equal('');
    });
  }

  for (const name of ['box', 'client', 'policy', 'staff', 'misspelt']) {
    it(`of an object that no operator has seen (${name}) is in progress`, async () => {
      expect(kstatus(unseen[name])).to.equal('InProgress');
      expect((await argoHealth(unseen[name])).status).to.equal('Progressing');
    });
  }

  it('of a changed object is in progress until the operator has seen the change', async () => {
    const client = isObject(seen['client']) ? seen['client'] : {};
    const metadata = isObject(client['metadata']) ? client['metadata'] : {};
    const changed = { ...client, metadata: { ...metadata, generation: 2 } };
    expect(kstatus(changed)).to.equal('InProgress');
    expect((await argoHealth(changed)).status).to.equal('Progressing');
  });

  it('of an object that is being deleted is Terminating', async () => {
    await rig.put('Client', box, 'held', machine, { finalizers: ['example.com/hold'] });
    await rig.ready('Client', box, 'held');
    await rig.remove('Client', box, 'held');
    const going = await rig.find('Client', box, 'held');
    expect(kstatus(going)).to.equal('Terminating');
    expect((await argoHealth(going)).status).to.equal('Progressing');
  });

  it('says in Argo CD what the condition says', async () => {
    const { message } = await argoHealth(seen['misspelt']);
    expect(message).to.contain('Correct what is named and apply the object again');
  });
});
