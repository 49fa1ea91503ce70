import { expect } from 'chai';
import { kubectl } from '../../../tools/envtest/install-crds.ts';
import { eventually } from '../../support/eventually.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

describe('what a cluster shows of usage', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator({ BOXGATE_SWEEP_SECONDS: '1', BOXGATE_USAGE_SECONDS: '1' });
  });
  after(() => rig.stop());

  it('kubectl get -o wide shows the sessions and the last token of a client, and nothing of one that was never used', async () => {
    const box = await rig.box();
    for (const name of ['used', 'unused']) {
      await rig.put('Client', box, name, { grant_types: ['client_credentials'], secret: 'a-secret' });
      await rig.ready('Client', box, name);
    }
    for (let count = 0; count < 3; count += 1) expect(await rig.token(box, 'used', 'a-secret')).to.equal(200);
    const wide = (): Promise<string> => kubectl(rig.plane, 'get', 'clients', '--namespace', box, '--output', 'wide');
    await eventually('it is shown', async () => /^used +used .* True +\S+ +\d+\w* +3$/m.test(await wide()), 150_000);
    expect(await wide()).to.match(/^unused +unused .* True +Ready +\S+ *$/m);
  });
});
