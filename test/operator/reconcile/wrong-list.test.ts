import { expect } from 'chai';
import { startApi, type TestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { keyClient } from '../declare.ts';
import { startScriptedRig, type ScriptedRig } from '../scripted-rig.ts';

const names = Array.from({ length: 8 }, (_, nth) => `app-${String(nth)}`);

describe('a list of the API server that lacks objects in many boxes', () => {
  let api: TestApi;
  let rig: ScriptedRig;
  let boxes: readonly string[];
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  let tests = 0;
  beforeEach(async () => {
    // A box belongs to the cluster that had it first.
    tests += 1;
    boxes = ['a', 'b', 'c', 'd'].map((letter) => `list-${letter}${String(tests)}`);
    rig = await startScriptedRig(api, {
      declare: (cluster) => boxes.forEach((box) => names.forEach((name) => cluster.put(box, name, keyClient))),
    });
    await eventually('each is held', () => rig.cluster.held === boxes.length * names.length);
  });
  afterEach(() => rig.stop());

  const missing = (): Promise<number> => rig.metric('missing_objects');

  /** Looks at everything in every box: until no pass is under way, as the first one that ends may have begun before. */
  async function sweep(): Promise<void> {
    const before = boxes.map((box) => ended(box));
    rig.reconciler.sweep();
    await eventually('each box had its pass', async () => {
      const areOver = boxes.every((box, nth) => ended(box) > (before[nth] ?? 0) && ended(box) === rig.passes(box));
      return areOver && (await rig.metric('queue_depth')) === 0;
    });
  }

  const ended = (box: string): number => rig.moments.filter((one) => one.box === box && one.what === 'ended').length;

  it('F-10: three of eight in each box are missing: nothing goes, not even what is gone, until the list is right', async () => {
    rig.cluster.isHidden = (_box, name) => name < 'app-3';
    rig.cluster.expire();
    await eventually('twelve are missing', async () => (await missing()) === 12);
    expect(await rig.metric('removals_withheld')).to.equal(1);
    rig.cluster.lose(boxes[0] ?? '', 'app-7');
    rig.cluster.expire();
    await eventually('a pass has looked', () =>
      rig.calls.some(({ path }) => path.endsWith(`/${boxes[0] ?? ''}/clients/app-7`)),
    );
    await sweep();
    expect(await rig.rows()).to.equal(32);
    expect(rig.events.recorded.map(({ reason }) => reason)).to.include('ManyVanished');
    expect(rig.events.recorded.map(({ message }) => message).join()).not.to.match(/list-[a-d]\d/);
    rig.cluster.isHidden = () => false;
    rig.cluster.expire();
    await eventually('none is missing', async () => (await missing()) === 0);
    await sweep();
    expect(await rig.metric('removals_withheld')).to.equal(0);
    expect(await rig.rows()).to.equal(31);
  });

  it('F-10: an empty list removes nothing, and what is truly gone goes when there is a list again', async () => {
    rig.cluster.isHidden = () => true;
    rig.cluster.expire();
    await eventually('all are missing', async () => (await missing()) === 32);
    await sweep();
    expect(await rig.rows()).to.equal(32);
    for (const name of names) rig.cluster.lose(boxes[1] ?? '', name);
    rig.cluster.isHidden = () => false;
    rig.cluster.expire();
    await eventually('the others are there', async () => (await missing()) === names.length);
    await sweep();
    expect(await missing()).to.equal(0);
    expect(await rig.rows()).to.equal(24);
  });

  it('F-10: few that are missing hold nothing up', async () => {
    rig.cluster.isHidden = (box, name) => box !== boxes[3] && name === 'app-0';
    rig.cluster.lose(boxes[3] ?? '', 'app-0');
    rig.cluster.expire();
    await eventually('three are missing', async () => (await missing()) === 3);
    await eventually('the one that is gone has no row', async () => (await rig.rows()) === 31);
    expect(await rig.metric('removals_withheld')).to.equal(0);
  });

  it('R-51 takes no box out of service because a list lacks its Namespace: a read of that one says that it is there', async () => {
    await sweep();
    const { signal } = new AbortController();
    const bound = await rig.management.declaredBoxes(rig.id, signal);
    expect(bound.filter((one) => one.missing === true)).to.deep.equal([]);
    expect(bound.map(({ box }) => box)).to.include.members([...boxes]);
    expect(await rig.rows()).to.equal(boxes.length * names.length);
  });
});
