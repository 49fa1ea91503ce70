import { expect } from 'chai';
import type { Declared } from '../../../operator/desired/declared.ts';
import type { TerminatingObject } from '../../../operator/desired/source.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { machineClient } from '../declare.ts';
import { passRig, type PassRig } from '../pass-rig.ts';

describe('an object whose deletion waits for its row', () => {
  const app = machineClient('app', { secret: 'of-app' });
  const other = machineClient('other', { secret: 'of-other' });
  let api: TestApi;
  let rig: PassRig;
  let boxes = 0;
  let going: Declared[];
  /** Objects whose finalizer was removed, each with the answer to a token request of its client at that moment. */
  let released: string[];
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    boxes += 1;
    const box = `box-${String(boxes)}`;
    rig = await passRig(api, box);
    [going, released] = [[], []];
    const waiting = ({ kind, name, uid }: Declared): TerminatingObject => ({
      kind,
      namespace: box,
      name,
      uid,
      waited: 0,
    });
    rig.source.finalizers = {
      add: () => Promise.resolve(),
      refusals: () => new Map(),
      terminating: () => going.map(waiting),
      async remove(_box, objects) {
        for (const { name } of objects) released.push(`${name}: ${String(await rig.token(name, `of-${name}`))}`);
        going = going.filter(({ uid }) => objects.every((one) => one.uid !== uid));
      },
    };
    await rig.pass([app, other]);
  });

  it('goes once nobody gets a token as what it declared', async () => {
    going = [app];
    await rig.pass([other]);
    expect(released).to.deep.equal(['app: 401']);
    expect(await rig.token('other', 'of-other')).to.equal(200);
  });

  it('goes also where it was deleted before this process began, and leaves what it does not declare', async () => {
    going = [app];
    await rig.restart();
    await rig.pass([other], 'everything');
    expect(released).to.deep.equal(['app: 401']);
    expect(await rig.token('other', 'of-other')).to.equal(200);
  });

  it('stays while its row does: it was not confirmed to be gone', async () => {
    going = [app];
    rig.source.hidden = [app];
    await rig.pass([other]);
    expect(released).to.deep.equal([]);
    expect(await rig.token('app', 'of-app')).to.equal(200);
    rig.source.hidden = [];
    await rig.pass([other], 'everything');
    expect(released).to.deep.equal(['app: 401']);
  });

  it('is released immediately when it never had a row', async () => {
    going = [machineClient('faulty', { grant_types: ['x'] })];
    await rig.pass([app, other]);
    expect(released).to.deep.equal(['faulty: 401']);
  });

  it('goes also where it was created again meanwhile: the new one has the id, and nothing of the old one counts', async () => {
    const again = machineClient('app', { secret: 'of-another' });
    going = [app];
    await rig.pass([{ ...again, uid: 'another-uid' }, other]);
    expect(released).to.deep.equal(['app: 401']);
    expect(await rig.token('app', 'of-another')).to.equal(200);
  });
});
