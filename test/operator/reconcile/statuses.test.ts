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

  it('gives each object its finalizer before its status, and again when it has lost it', async () => {
    const rig = await passRig(api, 'finalizers');
    const held = new Set<string>();
    const seen: string[] = [];
    const write = rig.source.writeStatus.bind(rig.source);
    rig.source.writeStatus = (box, changed, gone, signal) => {
      seen.push(...changed.map(({ name }) => `${name} ${held.has(name) ? 'held' : 'free'}`));
      return write(box, changed, gone, signal);
    };
    rig.source.finalizers = {
      add: async (_box, objects) => objects.forEach(({ name }) => held.add(name)),
      refusals: () => new Map(),
      terminating: () => [],
      remove: () => Promise.resolve(),
    };
    await rig.pass([machineClient('one'), machineClient('two')]);
    expect(seen).to.deep.equal(['one held', 'two held']);
    held.delete('one');
    await rig.pass([machineClient('one'), machineClient('two')]);
    expect([held.has('one'), seen.length]).to.deep.equal([true, 2]);
  });

  it('keeps the time of a condition whose write was left to the next pass', async () => {
    const rig = await passRig(api, 'kept-times');
    const objects = [machineClient('app-1'), machineClient('app-2')];
    await rig.pass(objects);
    const times = () => rig.source.statuses.get('Client/app-2')?.conditions.map((one) => one.lastTransitionTime);
    const before = times();
    rig.now = new Date(rig.now.getTime() + 60_000);
    rig.source.statusesInTurn = 1;
    const changed = objects.map((one) => ({ ...one, generation: one.generation + 1 }));
    expect(await rig.pass(changed)).to.equal('more');
    expect(await rig.pass(changed)).to.equal('done');
    expect(rig.source.published).to.equal(4);
    expect(times()).to.deep.equal(before);
  });
});
