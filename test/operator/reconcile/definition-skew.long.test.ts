import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { startControlPlane, type ControlPlane } from '../../support/cluster/control-plane.ts';
import { applyCrds, kubectl } from '../../support/cluster/install-crds.ts';
import { eventually } from '../../support/eventually.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { startProcessRig, type ProcessRig } from '../operator-rig.ts';

const app = { grant_types: ['client_credentials'], secret: 'a-secret-of-the-app' };
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const schemaPath = '/spec/versions/0/schema/openAPIV3Schema/properties';

/** The definitions of one release, and an operator and an API of another: on a control plane of its own. */
describe('custom resource definitions of another release', () => {
  let plane: ControlPlane;
  let rig: ProcessRig;
  let operator: OperatorProcess;
  let box: string;
  before(async () => {
    plane = await startControlPlane();
    rig = await startProcessRig(plane);
    operator = await rig.operatorProcess();
  });
  after(async () => {
    await rig.stop();
    await plane.stop();
  });
  beforeEach(async () => {
    // Unlike apply it also removes what another release has added.
    await kubectl(plane, 'replace', '-f', 'crds/');
    await eventually('the operator finds no difference', async () => (await readiness()) === 'ok', 60_000);
    box = await rig.box();
  });

  type Change = Readonly<{ op: 'add' | 'remove'; path: string; value?: unknown }>;

  /** Changes the schema of a kind as another release would have it. */
  async function change(plural: string, changes: readonly Change[]): Promise<void> {
    const patch = JSON.stringify(changes.map((one) => ({ ...one, path: `${schemaPath}${one.path}` })));
    await kubectl(plane, 'patch', 'crd', `${plural}.boxgate.dev`, '--type=json', '-p', patch);
  }

  async function readiness(): Promise<string> {
    const response = await fetch(`${operator.healthUrl}/readyz`);
    expect(response.status).to.equal(200);
    return response.text();
  }

  async function metric(kind: string, definition: string): Promise<number> {
    const page = await (await fetch(`${operator.healthUrl}/metrics`)).text();
    const line = new RegExp(
      `^boxgate_operator_definition_fields\\{kind="${kind}",definition="${definition}"\\} (\\d+)$`,
      'm',
    );
    return Number(line.exec(page)?.[1] ?? NaN);
  }

  const noticed = (what: string) =>
    eventually(`the operator notices ${what}`, async () => (await readiness()).includes(what), 60_000);

  async function status(name: string): Promise<Record<string, unknown>> {
    const found = (await rig.find('Client', box, name))?.['status'];
    return isObject(found) ? found : {};
  }

  it('R-55: statuses are written without the fields that older definitions lack, and with them once they are updated', async () => {
    await change('clients', [
      { op: 'remove', path: '/status/properties/secretName' },
      { op: 'remove', path: '/spec/properties/first_party' },
    ]);
    await noticed('the definition of Client lacks first_party, status.secretName: kubectl apply -f crds/');
    expect(await metric('Client', 'older')).to.equal(2);
    await rig.put('Client', box, 'made', { grant_types: ['client_credentials'] });
    await rig.ready('Client', box, 'made');
    expect(await status('made'))
      .to.include({ id: 'made', secret: 'generated' })
      .and.not.have.property('secretName');
    await rig.put('Client', box, 'made', { grant_types: ['client_credentials'], active: false });
    await rig.ready('Client', box, 'made');

    await applyCrds(plane);
    await eventually('the field is written', async () => (await status('made'))['secretName'] === 'made', 60_000);
    expect(await metric('Client', 'older')).to.equal(0);
  });

  it('R-55: a field that only newer definitions know is ignored on a Client and a Box, which say so', async () => {
    const newer = { op: 'add', path: '/spec/properties/next_year', value: { type: 'string' } } as const;
    await change('clients', [
      newer,
      { op: 'add', path: '/spec/properties/auth/properties/next', value: { type: 'object' } },
    ]);
    await change('boxes', [newer]);
    await noticed('the definition of Box has next_year: update the operator');
    await noticed('the definition of Client has auth.next, next_year: update the operator');
    expect(await metric('Client', 'newer')).to.equal(2);

    await rig.put('Client', box, 'app', { ...app, next_year: 'x', auth: { next: {} } });
    await rig.put('Box', box, 'box', { next_year: 'x' });
    await rig.ready('Client', box, 'app');
    await rig.ready('Box', box, 'box');
    expect(await rig.condition('Client', box, 'app', 'OperatorOlder')).to.equal('True/NewerFields');
    expect(await rig.condition('Box', box, 'box', 'OperatorOlder')).to.equal('True/NewerFields');
    expect(JSON.stringify(await status('app'))).to.contain(
      'does not know spec.auth.next, spec.next_year: they are ignored',
    );
    expect(await rig.token(box, 'app', app.secret)).to.equal(200);

    await rig.put('Client', box, 'app', app);
    await eventually('the condition goes with the field', async () => {
      return (await rig.condition('Client', box, 'app', 'OperatorOlder')) === 'undefined/undefined';
    });
  });

  it('R-55: objects with a field of newer definitions are what they were without it, once these are taken back', async () => {
    const newer = { op: 'add', path: '/spec/properties/next_year', value: { type: 'string' } } as const;
    await change('clients', [newer]);
    await noticed('the definition of Client has next_year: update the operator');
    await rig.put('Client', box, 'app', { ...app, next_year: 'x' });
    await rig.ready('Client', box, 'app');
    expect(await rig.condition('Client', box, 'app', 'OperatorOlder')).to.equal('True/NewerFields');

    await kubectl(plane, 'replace', '-f', 'crds/');
    await eventually(
      'the field is gone',
      async () => {
        const isOlder = await rig.condition('Client', box, 'app', 'OperatorOlder');
        return isOlder === 'undefined/undefined' && (await rig.condition('Client', box, 'app')) === 'True/Ready';
      },
      120_000,
    );
    expect(await rig.token(box, 'app', app.secret)).to.equal(200);
  });

  it('R-55: nor does it last that definitions were newer for too short a time to be noticed', async () => {
    await change('clients', [{ op: 'add', path: '/spec/properties/next_year', value: { type: 'string' } }]);
    await eventually('the field is taken', async () => {
      await rig.put('Client', box, 'app', { ...app, next_year: 'x' });
      const { spec } = (await rig.find('Client', box, 'app')) ?? {};
      return isObject(spec) && spec['next_year'] === 'x';
    });
    await eventually('it is validated', async () => {
      const { metadata } = (await rig.find('Client', box, 'app')) ?? {};
      return isObject(metadata) && (await status('app'))['observedGeneration'] === metadata['generation'];
    });
    await kubectl(plane, 'replace', '-f', 'crds/');
    await rig.ready('Client', box, 'app', 120_000);
    expect(await rig.condition('Client', box, 'app', 'OperatorOlder')).to.equal('undefined/undefined');
  });

  it('R-55: a policy with a field that only newer definitions know grants nothing', async () => {
    const policy = { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] };
    await rig.put('Client', box, 'app', app);
    await rig.put('AccessPolicy', box, 'policy', policy);
    await rig.ready('Client', box, 'app');
    await rig.ready('AccessPolicy', box, 'policy');
    const reading = async (): Promise<number> => {
      const url = `${rig.api.url}/boxes/${box}`;
      const body = JSON.stringify({ grant_type: 'client_credentials', client_id: 'app', client_secret: app.secret });
      const headers = { 'Content-Type': 'application/json' };
      const answer: unknown = await (await fetch(`${url}/auth/token`, { method: 'POST', headers, body })).json();
      const token = isObject(answer) ? String(answer['access_token']) : '';
      return (await fetch(`${url}/Client`, { headers: { Authorization: `Bearer ${token}` } })).status;
    };
    expect(await reading()).to.equal(200);
    await change('accesspolicies', [{ op: 'add', path: '/spec/properties/only_on', value: { type: 'string' } }]);
    await noticed('the definition of AccessPolicy has only_on');
    await rig.put('AccessPolicy', box, 'policy', { ...policy, only_on: 'weekdays' });
    await eventually('it says so', async () => {
      return (await rig.condition('AccessPolicy', box, 'policy')) === 'False/NewerFields';
    });
    expect(await reading()).to.equal(403);
    await rig.put('AccessPolicy', box, 'policy', policy);
    await rig.ready('AccessPolicy', box, 'policy');
    expect(await reading()).to.equal(200);
  });

  it('R-55: everything else is reconciled while the cluster has no definition of Group, and groups once it has', async () => {
    await operator.end('SIGTERM');
    await kubectl(plane, 'delete', 'crd', 'groups.boxgate.dev');
    operator = await rig.operatorProcess();
    await rig.put('Client', box, 'app', app);
    await rig.ready('Client', box, 'app');
    await applyCrds(plane);
    await eventually('a Group is taken', async () => {
      const failed = await rig.put('Group', box, 'staff', {}).then(
        () => undefined,
        (error: unknown) => error,
      );
      return failed === undefined;
    });
    await rig.ready('Group', box, 'staff', 120_000);
  });

  it('R-55: a field that nobody declares is refused as ever', async () => {
    const path = `/apis/boxgate.dev/v1/namespaces/${box}/clients?fieldValidation=Strict`;
    const body = {
      ...{ apiVersion: 'boxgate.dev/v1', kind: 'Client', metadata: { name: 'odd' } },
      spec: { ...app, nobody_knows: 1 },
    };
    const answer = await plane.call({ method: 'POST', path, body });
    expect(answer.status).to.equal(400);
    expect((await plane.call({ path: `${definitions}/clients.boxgate.dev` })).status).to.equal(200);
  });
});
