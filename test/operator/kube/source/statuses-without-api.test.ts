import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { startFaultProxy, type FaultProxy } from '../../../support/fault-proxy.ts';
import { eachInCluster, machine, type SourceRig } from '../source-rig.ts';

describe('statuses in a cluster while the API cannot be reached', () => {
  let rig: SourceRig;
  let proxy: FaultProxy;
  eachInCluster((made) => (rig = made));
  beforeEach(async () => {
    const { port } = new URL(rig.managementUrl);
    proxy = await startFaultProxy(Number(port));
    rig.managementUrl = `http://127.0.0.1:${String(proxy.port)}`;
  });
  afterEach(() => proxy.close());

  function away(isAway: boolean): void {
    proxy.isClosed = isAway;
    if (isAway) proxy.cut();
  }

  it('tell so of what is new and of each Box, from the start of an operator on', async () => {
    away(true);
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.put('Box', 'box', {});
    rig.begin();
    await eventually('the Client says so', async () => (await rig.condition('Client', 'app')) === 'False/Unavailable');
    await eventually('the Box says so', async () => (await rig.condition('Box', 'box')) === 'False/Unavailable');
    away(false);
    await rig.ready('Client', 'app');
    await rig.ready('Box', 'box');
    expect(await rig.token('app', 's3cret')).to.equal(200);
  });

  it('stay as they are where a new operator cannot know more, until it can', async () => {
    await rig.put('Client', 'same', machine('s3cret'));
    await rig.put('Client', 'edited', machine('s3cret'));
    await rig.start();
    await rig.ready('Client', 'same');
    await rig.ready('Client', 'edited');
    const before = await rig.find('Client', 'same');
    await rig.stop();
    away(true);
    await rig.put('Client', 'edited', machine('another'));
    rig.begin();
    await eventually('it says so', async () => (await rig.condition('Client', 'edited')) === 'False/Unavailable');
    expect(await rig.find('Client', 'same')).to.deep.equal(before);
    away(false);
    await rig.ready('Client', 'edited');
    expect(await rig.token('edited', 'another')).to.equal(200);
    expect(await rig.find('Client', 'same')).to.deep.equal(before);
  });

  it('go on being written after a sweep that failed', async () => {
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.start();
    await rig.ready('Client', 'app');
    away(true);
    await rig.sweep().catch((error: unknown) => expect(error).to.have.property('code', 'unavailable'));
    await rig.put('Client', 'later', machine('s3cret'));
    await eventually('it says so', async () => (await rig.condition('Client', 'later')) === 'False/Unavailable');
    away(false);
    await rig.ready('Client', 'later');
  });
});
