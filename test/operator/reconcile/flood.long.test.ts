import { expect } from 'chai';
import { setImmediate as breathe } from 'node:timers/promises';
import { startApi, type TestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { keyClient } from '../declare.ts';
import { startScriptedRig, type BoxMoment, type ScriptedRig } from '../scripted-rig.ts';

describe('an operator in a flood of changes', () => {
  let api: TestApi;
  let rig: ScriptedRig;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  afterEach(async () => {
    await rig.stop();
  });

  it('F-28: a thousand updates of one object while its box has a pass lead to one pass more', async () => {
    const gate = Promise.withResolvers<undefined>();
    let isHeld = false;
    rig = await startScriptedRig(api, {
      management: (real) => ({
        ...real,
        async apply(call, signal) {
          const isFirst = !isHeld && call.box === 'updated';
          isHeld ||= isFirst;
          if (isFirst) await gate.promise;
          return real.apply(call, signal);
        },
      }),
    });
    rig.cluster.put('updated', 'one', { ...keyClient, description: 'change 0' });
    await eventually('a pass is under way', () => isHeld);
    for (let nth = 1; nth <= 1_000; nth += 1) {
      rig.cluster.put('updated', 'one', { ...keyClient, description: `change ${String(nth)}` });
    }
    const heard = (): number => count(rig.moments, 'updated', 'heard');
    await eventually('each of them was heard', () => heard() === 1_001, 60_000);
    expect(rig.passes('updated')).to.equal(1);
    const ready = readyOf(rig, 'updated', 'one', 1_001);
    gate.resolve(undefined);
    await ready;
    await eventually('the last pass has ended', () => count(rig.moments, 'updated', 'ended') === 2);
    expect(rig.passes('updated')).to.equal(2);
    expect(await rig.rows()).to.equal(1);
  });

  it('F-28: while two boxes change without end another one has its turn, after at most one pass of each', async () => {
    rig = await startScriptedRig(api);
    const floods = ['flood-a', 'flood-b'];
    const isReady = (): boolean => rig.cluster.readyGeneration('quiet', 'one') === 1;
    let updates = 0;
    for (; updates < 1_000 || !isReady(); updates += 1) {
      for (const box of floods) rig.cluster.put(box, 'one', { ...keyClient, description: String(updates) });
      if (updates === 500) rig.cluster.put('quiet', 'one', keyClient);
      await breathe();
    }
    for (const box of [...floods, 'quiet']) expect(mostAtOnce(rig.moments, box), box).to.equal(1);
    const [asked, turn] = (['heard', 'began'] as const).map((what) =>
      rig.moments.findIndex((one) => one.box === 'quiet' && one.what === what),
    );
    const between = rig.moments.slice(asked, turn);
    for (const box of floods) expect(count(between, box, 'began'), box).to.be.at.most(1);
    for (const box of floods) expect(rig.passes(box), `passes for ${String(updates)} updates`).to.be.below(updates / 2);
  });

  it('F-28: of ten thousand objects that are deleted at once no row is left, and each of them goes', async function () {
    this.timeout(600_000);
    const all = Array.from(
      { length: 10_000 },
      (_, nth) => [`deleted-${String(nth % 4)}`, `app-${String(nth)}`] as const,
    );
    rig = await startScriptedRig(api, {
      declare: (cluster) => all.forEach(([box, name]) => cluster.put(box, name, keyClient)),
    });
    await eventually('each is held', () => rig.cluster.held === all.length, 200_000);
    expect(await rig.rows()).to.equal(all.length);
    for (const [box, name] of all) rig.cluster.remove(box, name);
    await eventually('each has gone', () => rig.cluster.size === 0, 200_000);
    expect(await rig.rows()).to.equal(0);
  });
});

function count(moments: readonly BoxMoment[], box: string, what: BoxMoment['what']): number {
  return moments.filter((one) => one.box === box && one.what === what).length;
}

/** Returns the maximum number of concurrent passes of a box. */
function mostAtOnce(moments: readonly BoxMoment[], box: string): number {
  let [now, most] = [0, 0];
  for (const one of moments) {
    if (one.box !== box || one.what === 'heard') continue;
    now += one.what === 'began' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

/** Resolves when a Client is said to be Ready in a generation. */
function readyOf({ cluster }: ScriptedRig, box: string, name: string, generation: number): Promise<void> {
  return new Promise((resolve) => {
    const deafen = cluster.onStatus((...about) => {
      if (about[0] !== box || about[1] !== name || cluster.readyGeneration(box, name) !== generation) return;
      deafen();
      resolve();
    });
  });
}
