import { expect } from 'chai';
import { startApi, type TestApi } from '../support/api.ts';
import { machineClient } from './declare.ts';
import { passRig } from './pass-rig.ts';

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
});
