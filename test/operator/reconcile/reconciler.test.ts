import { expect } from 'chai';
import { createManagement, type Management } from '../../../api/client/management.ts';
import { ManagementError } from '../../../api/client/management-error.ts';
import { Secret } from '../../../api/client/secret.ts';
import { startReconciler, type Reconciler, type ReconcilerOptions } from '../../../operator/reconcile/reconciler.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { machineClient } from '../declare.ts';
import { memoryKeeper, memorySource, type MemorySource } from '../memory-source.ts';
import { plainOptions } from '../reconciler-options.ts';
import { recordedEvents } from '../status/recorded-events.ts';

/** Waits that a test lets pass when it likes. */
interface Waits {
  readonly schedule: ReconcilerOptions['schedule'];
  /** Lengths of the waits that are under way. */
  lengths(): number[];
  /** Lets every wait of at least this length pass. */
  pass(least: number): void;
}

function waits(): Waits {
  let open: { wait: number; callback: () => void }[] = [];
  return {
    lengths: () => open.map(({ wait }) => wait),
    schedule(wait, callback) {
      const entry = { wait, callback };
      open.push(entry);
      return () => void (open = open.filter((one) => one !== entry));
    },
    pass(least) {
      const due = open.filter(({ wait }) => wait >= least);
      open = open.filter((one) => !due.includes(one));
      for (const { callback } of due) callback();
    },
  };
}

const sweepPeriod = 60_000;

describe('startReconciler against a real API', () => {
  let api: TestApi;
  let real: Management;
  let reconciler: Reconciler | undefined;
  let source: MemorySource;
  let changed: (box: string) => void;
  let time: Waits;
  let failures: { box: string; error: unknown }[];
  let cluster = 0;
  const never = new AbortController().signal;

  before(async () => {
    api = await startApi();
    real = createManagement({ url: api.managementUrl, key: new Secret(api.managementKey) });
  });
  after(() => api.stop());
  beforeEach(() => {
    cluster += 1;
    time = waits();
    failures = [];
    source = memorySource();
    source.watch = (onChange) => void (changed = onChange);
  });
  afterEach(async () => {
    await reconciler?.stop();
    reconciler = undefined;
  });

  function start(management: Management = real): Reconciler {
    reconciler = startReconciler({
      ...plainOptions('http://x'),
      source,
      management,
      keeper: memoryKeeper(),
      cluster: `c${String(cluster)}`,
      schedule: time.schedule,
      sweepPeriod,
      events: recordedEvents(),
      onFailure: (box, error) => failures.push({ box, error }),
    });
    return reconciler;
  }

  /** Ids of each test are its own: what one cluster has made is another's conflict. */
  const inBox = (box: string, name: string) => ({ ...machineClient(`${name}-${String(cluster)}`), namespace: box });
  const rows = async () =>
    Object.fromEntries(
      (await real.declaredBoxes(`c${String(cluster)}`, never)).map(({ box, resources }) => [box, resources]),
    );

  it('applies every box in its first round', async () => {
    source.objects = [inBox('a', 'one'), inBox('b', 'one'), inBox('b', 'two')];
    await start().firstRound;
    expect(await rows()).to.deep.equal({ a: 1, b: 2 });
    expect(failures).to.deep.equal([]);
  });

  it('applies a change when the source tells of it, in that box alone', async () => {
    source.objects = [inBox('a', 'one')];
    await start().firstRound;
    source.objects = [inBox('a', 'one'), inBox('b', 'one')];
    changed('b');
    await eventually('box b is applied', async () => (await rows())['b'] === 1);
  });

  it('applies what changes while it writes statuses of the box before the other statuses', async () => {
    const names = ['one', 'two', 'three'];
    source.statusesInTurn = 1;
    source.objects = names.map((name) => inBox('a', name));
    const write = source.writeStatus.bind(source);
    const seen: (number | undefined)[] = [];
    source.writeStatus = async (box, statuses, gone, signal) => {
      seen.push((await rows())['a']);
      if (seen.length === 1) {
        source.objects = [...source.objects, inBox('a', 'four')];
        changed('a');
      }
      return write(box, statuses, gone, signal);
    };
    await start().firstRound;
    expect(seen).to.deep.equal([3, 4, 4, 4]);
  });

  it('empties a box in which nothing is declared any more, also one that it has never seen', async () => {
    source.objects = [inBox('a', 'one')];
    await start().firstRound;
    await reconciler?.stop();
    source.objects = [];
    await start().firstRound;
    expect(await rows()).to.deep.equal({});
  });

  it('finds at the next sweep what it never heard of', async () => {
    await start().firstRound;
    source.objects = [inBox('a', 'one')];
    expect(time.lengths()).to.include(sweepPeriod);
    time.pass(sweepPeriod);
    await eventually('the box is applied', async () => (await rows())['a'] === 1);
    await eventually('the next sweep is planned', () => time.lengths().includes(sweepPeriod));
  });

  it('peer defect 1: is never Ready while the API fails each of the first 20 writes, and then is, with no change of the spec', async () => {
    let left = 20;
    const failing: Management = {
      ...real,
      apply(call, signal) {
        if (left === 0) return real.apply(call, signal);
        left -= 1;
        return Promise.reject(new ManagementError('refused', 'the API answered 500'));
      },
    };
    const said = new Set<string>();
    const write = source.writeStatus.bind(source);
    source.writeStatus = (box, changed, gone, signal) => {
      for (const { conditions } of changed) {
        for (const { type, status } of conditions) if (type === 'Ready' && left > 0) said.add(status);
      }
      return write(box, changed, gone, signal);
    };
    source.objects = [inBox('a', 'one')];
    start(failing);
    await eventually('it is Ready', () => {
      time.pass(0);
      return [...source.statuses.values()][0]?.conditions[0]?.status === 'True';
    });
    expect(left).to.equal(0);
    expect(await rows()).to.deep.equal({ a: 1 });
    expect([...said]).to.deep.equal(['False']);
  });

  it('peer defect 9: tries a failed pass again forever, with everything, and tells of each failure', async () => {
    let away = true;
    const flaky: Management = {
      ...real,
      apply: (call, signal) =>
        away ? Promise.reject(new ManagementError('unavailable', 'away')) : real.apply(call, signal),
    };
    source.objects = [inBox('a', 'one')];
    await start(flaky).firstRound;
    for (let tries = 2; tries <= 30; tries += 1) {
      time.pass(0);
      await eventually('it was tried again', () => failures.length >= tries);
    }
    away = false;
    time.pass(0);
    await eventually('the box is applied', async () => (await rows())['a'] === 1);
    expect(failures.every(({ box }) => box === 'a' || box === '')).to.equal(true);
  });

  it('I9 fails when somebody else has taken over', async () => {
    source.objects = [inBox('a', 'one')];
    const { failed, firstRound } = start();
    await firstRound;
    await real.claimEpoch(`c${String(cluster)}`, never);
    source.objects = [];
    changed('a');
    const error: unknown = await failed.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ManagementError).with.property('code', 'fenced');
    expect(await rows()).to.deep.equal({ a: 1 });
    expect(failures).to.deep.equal([]);
  });

  it('begins while the API is away, and claims its epoch when that is back', async () => {
    let away = true;
    const claims: number[] = [];
    const late: Management = {
      ...real,
      claimEpoch(name, signal) {
        claims.push(claims.length);
        return away ? Promise.reject(new ManagementError('unavailable', 'away')) : real.claimEpoch(name, signal);
      },
    };
    source.objects = [inBox('a', 'one')];
    const { firstRound } = start(late);
    await eventually('the sweep and the pass have failed', () => failures.length >= 2);
    expect(await rows()).to.deep.equal({});
    await eventually('the status says so', () => source.statuses.size === 1);
    away = false;
    time.pass(0);
    await firstRound;
    await eventually('the box is applied', async () => (await rows())['a'] === 1);
    const claimed = claims.length;
    source.objects = [];
    changed('a');
    await eventually('the box is empty', async () => (await rows())['a'] === undefined);
    expect(claims).to.have.length(claimed);
  });

  it('lets what is under way end when it stops, for as long as it is told', async () => {
    const gate = Promise.withResolvers<undefined>();
    let applying = false;
    const slow: Management = {
      ...real,
      async apply(call, signal) {
        applying = true;
        await gate.promise;
        return real.apply(call, signal);
      },
    };
    source.objects = [inBox('a', 'one')];
    start(slow);
    await eventually('a call is under way', () => applying);
    const stopped = reconciler?.stop(1_000);
    gate.resolve(undefined);
    await stopped;
    expect(await rows()).to.deep.equal({ a: 1 });
    expect(time.lengths()).to.deep.equal([]);
  });

  it('cuts what is under way short when its time is over', async () => {
    let applying = false;
    const stuck: Management = {
      ...real,
      apply(_call, signal) {
        applying = true;
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut short'))));
      },
    };
    source.objects = [inBox('a', 'one')];
    start(stuck);
    await eventually('a call is under way', () => applying);
    const stopped = reconciler?.stop(1_000);
    time.pass(1_000);
    await stopped;
  });

  it('plans nothing more once it has stopped', async () => {
    await start().firstRound;
    await reconciler?.stop();
    expect(time.lengths()).to.deep.equal([]);
    source.objects = [inBox('a', 'one')];
    changed('a');
    expect(await rows()).to.deep.equal({});
  });
});
