import { expect } from 'chai';
import { WorkQueue } from '../../../operator/reconcile/work-queue.ts';

interface Rig {
  readonly queue: WorkQueue;
  /** Keys in the order in which their passes began. */
  readonly begun: string[];
  readonly failures: { key: string; wait: number }[];
  /** Lets the pass of a key end, well or badly. */
  readonly end: (key: string, error?: Error) => Promise<void>;
  /** The waits that are under way. */
  readonly waits: { readonly wait: number; readonly callback: () => void }[];
}

function rig(concurrency = 2): Rig {
  const begun: string[] = [];
  const failures: Rig['failures'] = [];
  const waits: Rig['waits'] = [];
  const open = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const queue = new WorkQueue({
    concurrency,
    backOff: { first: 100, ceiling: 1_000 },
    random: () => 0,
    run(key) {
      begun.push(key);
      return new Promise((resolve, reject) => open.set(key, { resolve, reject }));
    },
    onFailure: (key, _error, wait) => failures.push({ key, wait }),
    schedule(wait, callback) {
      const entry = { wait, callback };
      waits.push(entry);
      return () => void waits.splice(waits.indexOf(entry), 1);
    },
  });
  const made: Rig = {
    queue,
    begun,
    failures,
    waits,
    end: async (key, error) => {
      const pass = open.get(key);
      open.delete(key);
      if (error === undefined) pass?.resolve();
      else pass?.reject(error);
      await settled();
    },
  };
  return made;
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
}

describe('WorkQueue', () => {
  it('runs a key once however often it was added before its pass began', async () => {
    const { queue, begun } = rig();
    for (let times = 0; times < 5; times += 1) queue.add('a');
    await settled();
    expect(begun).to.deep.equal(['a']);
  });

  it('never runs two passes of one key at once, and runs a key that was added during its pass once more', async () => {
    const { queue, begun, end } = rig();
    queue.add('a');
    await settled();
    queue.add('a');
    queue.add('a');
    await settled();
    expect(begun).to.deep.equal(['a']);
    await end('a');
    expect(begun).to.deep.equal(['a', 'a']);
    await end('a');
    expect(begun).to.deep.equal(['a', 'a']);
  });

  it('runs as many keys at once as it may, the others in the order in which they came', async () => {
    const { queue, begun, end } = rig(2);
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    await settled();
    expect(begun).to.deep.equal(['a', 'b']);
    await end('b');
    expect(begun).to.deep.equal(['a', 'b', 'c']);
  });

  it('lets a key that is busy all the time delay nobody', async () => {
    const { queue, begun, end } = rig(1);
    queue.add('busy');
    await settled();
    queue.add('busy');
    queue.add('other');
    await end('busy');
    expect(begun).to.deep.equal(['busy', 'other']);
  });

  it('runs a failed key again forever, after waits that grow to the ceiling', async () => {
    const { queue, end, failures, waits } = rig();
    queue.add('a');
    await settled();
    for (let times = 0; times < 8; times += 1) {
      await end('a', new Error('away'));
      waits.pop()?.callback();
      await settled();
    }
    expect(failures.map(({ wait }) => wait)).to.deep.equal([50, 100, 200, 400, 500, 500, 500, 500]);
  });

  it('begins with short waits again after a pass that went well', async () => {
    const { queue, end, failures, waits } = rig();
    queue.add('a');
    await settled();
    await end('a', new Error('away'));
    waits.pop()?.callback();
    await settled();
    await end('a');
    queue.add('a');
    await settled();
    await end('a', new Error('away again'));
    expect(failures.map(({ wait }) => wait)).to.deep.equal([50, 50]);
  });

  it('does not make a key wait that something new has happened to', async () => {
    const { queue, begun, end, waits } = rig();
    queue.add('a');
    await settled();
    await end('a', new Error('away'));
    expect(waits).to.have.length(1);
    queue.add('a');
    await settled();
    expect(begun).to.deep.equal(['a', 'a']);
    expect(waits).to.deep.equal([]);
  });

  it('is idle when nothing runs or is ready, also while a failed key waits', async () => {
    const { queue, end } = rig();
    let idle = false;
    queue.add('a');
    void queue.idle().then(() => (idle = true));
    await settled();
    expect(idle).to.equal(false);
    await end('a', new Error('away'));
    expect(idle).to.equal(true);
  });

  it('runs a key at its time, the last that was requested, and once', async () => {
    const { queue, begun, end, waits } = rig();
    queue.addAfter('a', 1_500);
    queue.addAfter('a', 1_200);
    queue.addAfter('b', -100);
    expect(waits.map(({ wait }) => wait)).to.deep.equal([1_200, 0]);
    for (const { callback } of waits.splice(0)) callback();
    await settled();
    expect(begun).to.deep.equal(['a', 'b']);
    await end('a');
    expect(begun).to.deep.equal(['a', 'b']);
  });

  it('waits for no time of a key that is added before', async () => {
    const { queue, begun, waits } = rig();
    queue.addAfter('a', 1_500);
    queue.add('a');
    expect(waits).to.deep.equal([]);
    await settled();
    expect(begun).to.deep.equal(['a']);
  });

  it('runs a key early rather than waits for longer than a timer can', () => {
    const { queue, waits } = rig();
    queue.addAfter('a', 400 * 86_400_000);
    expect(waits.map(({ wait }) => wait)).to.deep.equal([86_400_000]);
  });

  it('retries the failed keys at once, and no others', async () => {
    const { queue, begun, end } = rig();
    queue.add('bad');
    queue.add('good');
    await settled();
    await end('bad', new Error('away'));
    await end('good');
    queue.retry();
    await settled();
    expect(begun).to.deep.equal(['bad', 'good', 'bad']);
  });

  it('stops when the running passes have ended, and begins nothing more', async () => {
    const { queue, begun, end, waits } = rig(1);
    queue.add('a');
    queue.add('b');
    await settled();
    let stopped = false;
    void queue.stop().then(() => (stopped = true));
    await settled();
    expect(stopped).to.equal(false);
    await end('a', new Error('away'));
    queue.add('c');
    await settled();
    expect(stopped).to.equal(true);
    expect(begun).to.deep.equal(['a']);
    expect(waits).to.deep.equal([]);
  });
});
