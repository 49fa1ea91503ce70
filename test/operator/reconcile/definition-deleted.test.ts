import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import type { ControlPlane } from '../../support/cluster/control-plane.ts';
import { applyCrds, kubectl } from '../../support/cluster/install-crds.ts';
import { eventually } from '../../support/eventually.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

const chosen = { grant_types: ['client_credentials'], secret: 'a-secret-of-the-app' };
const generated = { grant_types: ['client_credentials'] };
const policy = { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] };

describe('custom resource definitions that are deleted', () => {
  let plane: ControlPlane;
  let rig: OperatorRig;
  let operator: OperatorProcess;
  let box: string;
  before(async () => {
    rig = await startOperatorRig();
    ({ plane } = rig);
    box = await rig.box();
    operator = await rig.operatorProcess({ BOXGATE_SWEEP_SECONDS: '1', BOXGATE_LEASE_SECONDS: '60' });
  });
  after(() => rig.stop());

  const secretOf = async (name: string): Promise<Readonly<Record<string, unknown>>> => {
    const { body } = await plane.call({ path: `/api/v1/namespaces/${box}/secrets/${name}` });
    return isObject(body) ? body : {};
  };
  const valueOf = async (name: string): Promise<string> => {
    const { data } = await secretOf(name);
    return Buffer.from(String(isObject(data) ? data['client_secret'] : ''), 'base64').toString();
  };

  it('F-22: leave every row as it is, without an owner, and hand it over to an object that adopts it', async () => {
    await rig.put('Box', box, 'box', { hosts: [] });
    await rig.put('Client', box, 'app', chosen);
    await rig.put('Client', box, 'made', generated);
    await rig.put('AccessPolicy', box, 'policy', policy);
    for (const name of ['app', 'made']) await rig.ready('Client', box, name, 60_000);
    await rig.ready('AccessPolicy', box, 'policy', 60_000);
    await rig.ready('Box', box, 'box', 60_000);
    const secret = await valueOf('made');
    const works = async (): Promise<void> => {
      expect(await rig.token(box, 'app', chosen.secret)).to.equal(200);
      expect(await rig.token(box, 'made', secret)).to.equal(200);
    };
    await works();

    await kubectl(plane, 'delete', '-f', 'crds/', '--timeout=120s');
    await works();
    const { metadata } = await secretOf('made');
    expect(isObject(metadata) ? metadata['ownerReferences'] : undefined).to.equal(undefined);

    await applyCrds(plane);
    await eventually('it takes objects', () => rig.put('Client', box, 'app', chosen).then(() => true));
    const isRefused = async (): Promise<boolean> =>
      (await rig.condition('Client', box, 'app')) === 'False/OwnedByAnother';
    await eventually('the object says who has its id', isRefused, 60_000);
    await works();

    await rig.put('Client', box, 'app', { ...chosen, adoption: 'IfUnowned' });
    await rig.put('Client', box, 'made', { ...generated, adoption: 'IfUnowned' });
    await rig.put('AccessPolicy', box, 'policy', { ...policy, adoption: 'IfUnowned' });
    await rig.put('Box', box, 'box', { hosts: [] });
    for (const name of ['app', 'made']) await rig.ready('Client', box, name, 60_000);
    await rig.ready('AccessPolicy', box, 'policy', 60_000);
    await rig.ready('Box', box, 'box', 60_000);
    await works();
    expect(await valueOf('made')).to.equal(secret);

    await kubectl(plane, 'delete', 'client', 'app', '--namespace', box);
    expect(await rig.token(box, 'app', chosen.secret)).to.equal(401);
    expect(operator.hasEnded()).to.equal(false);
  });
});
