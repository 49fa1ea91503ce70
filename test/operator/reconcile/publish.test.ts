import { expect } from 'chai';
import { startApi, type TestApi } from '../../support/api.ts';
import { machineClient } from '../declare.ts';
import { passRig } from '../pass-rig.ts';

describe('publishing statuses', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  it('fails the pass where a status cannot be written, and writes it in the next one', async () => {
    const rig = await passRig(api, 'publish');
    const real = { ...rig.source };
    rig.source.writeStatus = () => Promise.reject(new Error('the cluster is away'));
    const objects = [machineClient('app'), machineClient('other')];
    const thrown: unknown = await rig.pass(objects).catch((error: unknown) => error);
    expect(String(thrown)).to.equal('Error: the cluster is away');
    rig.source.writeStatus = (...status) => real.writeStatus(...status);
    await rig.pass(objects, 'everything');
    expect(rig.condition('Client/app')).to.equal('True/Ready');
    expect(rig.source.published).to.equal(2);
    await rig.pass(objects, 'everything');
    expect(rig.source.published).to.equal(2);
  });

  it('writes only so many statuses in a pass, and what changes meanwhile is enforced before the others', async () => {
    const rig = await passRig(api, 'turns');
    rig.source.statusesInTurn = 2;
    const objects = [1, 2, 3, 4, 5].map((nth) => machineClient(`app-${String(nth)}`));
    expect(await rig.pass(objects)).to.equal('more');
    expect([...rig.source.statuses.keys()]).to.deep.equal(['Client/app-1', 'Client/app-2']);
    expect(await rig.token('app-5')).to.equal(200);
    expect(await rig.pass([...objects, machineClient('new')])).to.equal('more');
    expect(await rig.token('new')).to.equal(200);
    expect(await rig.pass([...objects, machineClient('new')])).to.equal('done');
    expect(rig.source.published).to.equal(6);
    expect(rig.condition('Client/new')).to.equal('True/Ready');
    expect(await rig.pass(objects)).to.equal('done');
    expect(rig.source.gone).to.deep.equal(['Client/new']);
  });
});
