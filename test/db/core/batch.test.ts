import { expect } from 'chai';
import fc from 'fast-check';
import { createBatch } from '../../../api/db/hot/batch.ts';
import type { BatchLimits, BatchRun } from '../../../api/db/hot/batch.ts';
import { Outage } from '../../../api/db/core/outage.ts';

/** A run that the test ends when it likes. */
interface Run {
  readonly items: readonly number[];
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
}

const limits: BatchLimits = {
  size: 4,
  inFlight: 2,
  beside: 4,
  slow: 60_000,
  waiting: 100,
  patience: 60_000,
  overflow: (why) => new Error(why === 'full' ? 'overflow' : 'displaced'),
  overdue: () => new Error('overdue'),
};

function isOutage(error: unknown): boolean {
  return error instanceof Outage;
}

function double(items: readonly number[]): readonly number[] {
  return items.map((item) => item * 2);
}

/** The box of an item: a hundred items each. */
function boxOf(item: number): string {
  return `box-${String(Math.floor(item / 100))}`;
}

/** A batch whose runs wait for the test. */
function steered(over: Partial<BatchLimits> = {}): { submit: (item: number) => Promise<number>; runs: Run[] } {
  const runs: Run[] = [];
  const run: BatchRun<number, number> = (items) =>
    new Promise((resolve, reject) => {
      runs.push({
        items,
        succeed: () => {
          resolve(double(items));
        },
        fail: reject,
      });
    });
  const batch = createBatch(run, { ...limits, ...over }, isOutage, boxOf);
  return { submit: (item) => batch.submit(item), runs };
}

const ofOneBox = () => 'default';

/** A batch that runs at once, unless `work` throws. */
function immediate(work: (items: readonly number[]) => void, over: Partial<BatchLimits> = {}) {
  return createBatch(
    async (items: readonly number[]) => {
      await turn();
      work(items);
      return double(items);
    },
    { ...limits, ...over },
    isOutage,
    ofOneBox,
  );
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Returns the result of a submission, or the message of its error. */
function outcome(submission: Promise<number>): Promise<number | string> {
  return submission.catch((error: unknown) => (error instanceof Error ? error.message : 'no error'));
}

async function turnsUntil(holds: () => boolean): Promise<void> {
  const began = performance.now();
  while (!holds()) {
    // Turns are not counted: a thousand of them may be over before a timer of one millisecond.
    if (performance.now() - began > 10_000) throw new Error('it never came to hold');
    await turn();
  }
}

describe('a batch', () => {
  it('runs a lone item at once', async () => {
    const { submit, runs } = steered();
    const only = submit(1);
    await turnsUntil(() => runs.length === 1);
    runs[0]?.succeed();
    expect(await only).to.equal(2);
  });

  it('takes items of one turn of the event loop together, in their order', async () => {
    const { submit, runs } = steered();
    void submit(1);
    void submit(2);
    void submit(3);
    await turnsUntil(() => runs.length > 0);
    expect(runs.map((run) => run.items)).to.deep.equal([[1, 2, 3]]);
  });

  it('starts no more runs at once than it may, and what waits shares the next one', async () => {
    const { submit, runs } = steered({ beside: 1 });
    for (let item = 1; item <= 11; item += 1) void submit(item);
    await turnsUntil(() => runs.length === 2);
    await turn();
    expect(runs.map((run) => run.items)).to.deep.equal([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
    runs[1]?.succeed();
    await turnsUntil(() => runs.length === 3);
    expect(runs[2]?.items).to.deep.equal([9, 10, 11]);
  });

  it('begins no run beside another until enough items wait', async () => {
    const { submit, runs } = steered();
    void submit(1);
    await turnsUntil(() => runs.length === 1);
    for (let item = 2; item <= 4; item += 1) void submit(item);
    for (let count = 0; count < 20; count += 1) await turn();
    expect(runs).to.have.length(1);
    void submit(5);
    await turnsUntil(() => runs.length === 2);
    expect(runs[1]?.items).to.deep.equal([2, 3, 4, 5]);
  });

  it('begins a run beside a slow one, and no third', async () => {
    const { submit, runs } = steered({ slow: 1 });
    for (let item = 1; item <= 3; item += 1) {
      void submit(item);
      await turnsUntil(() => runs.length === Math.min(item, 2));
    }
    for (let count = 0; count < 20; count += 1) await turn();
    expect(runs.map(({ items }) => items)).to.deep.equal([[1], [2]]);
    runs[1]?.succeed();
    await turnsUntil(() => runs.length === 3);
    expect(runs[2]?.items).to.deep.equal([3]);
  });

  it('never lets a later item pass an earlier one', async () => {
    const { submit, runs } = steered({ size: 2, inFlight: 1 });
    for (let item = 1; item <= 6; item += 1) void submit(item);
    await turnsUntil(() => runs.length === 1);
    void submit(7);
    for (let count = 0; count < 4; count += 1) {
      runs[count]?.succeed();
      await turnsUntil(() => runs.length > Math.min(count + 1, 3));
    }
    expect(runs.map((run) => run.items)).to.deep.equal([[1, 2], [3, 4], [5, 6], [7]]);
  });

  it('R-06 takes items of each box in turn when not all fit into a run', async () => {
    const { submit, runs } = steered({ inFlight: 1 });
    for (const item of [0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 200]) void submit(item);
    for (let count = 1; count <= 3; count += 1) {
      await turnsUntil(() => runs.length === count);
      runs[count - 1]?.succeed();
    }
    const sorted = runs.map(({ items }) => [...items].sort((one, other) => one - other));
    expect(sorted).to.deep.equal([
      [0, 1, 100, 200],
      [2, 3, 4, 101],
      [5, 6, 7],
    ]);
  });

  it('R-06 gives the place of the box with the most items in line to one that has fewer', async () => {
    const { submit, runs } = steered({ inFlight: 1, waiting: 3 });
    void submit(0);
    await turnsUntil(() => runs.length === 1);
    const greedy = [submit(1), submit(2), submit(3)].map(outcome);
    const other = submit(100);
    expect(await greedy[2]).to.equal('displaced');
    runs[0]?.succeed();
    await turnsUntil(() => runs.length === 2);
    runs[1]?.succeed();
    expect(await Promise.all([...greedy.slice(0, 2), other])).to.deep.equal([2, 4, 200]);
  });

  it('refuses what is more than may wait, and takes items again when there is room', async () => {
    const { submit, runs } = steered({ inFlight: 1, waiting: 3 });
    void submit(0);
    await turnsUntil(() => runs.length === 1);
    const waiting = [submit(1), submit(2), submit(3)];
    expect(await outcome(submit(4))).to.equal('overflow');
    runs[0]?.succeed();
    await turnsUntil(() => runs.length === 2);
    const late = submit(5);
    runs[1]?.succeed();
    await turnsUntil(() => runs.length === 3);
    runs[2]?.succeed();
    expect(await Promise.all([...waiting, late])).to.deep.equal([2, 4, 6, 10]);
  });

  it('gives a bad item its own error and every other one its result', async () => {
    const batch = immediate(
      (items) => {
        if (items.includes(5)) throw new Error('bad row');
      },
      { size: 8 },
    );
    const outcomes = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((item) => outcome(batch.submit(item))));
    expect(outcomes).to.deep.equal([2, 4, 6, 8, 'bad row', 12, 14, 16]);
  });

  it('finds a bad item among many in few runs', async () => {
    let runs = 0;
    const batch = immediate(
      (items) => {
        runs += 1;
        if (items.includes(77)) throw new Error('bad row');
      },
      { size: 256, waiting: 256 },
    );
    await Promise.all(Array.from({ length: 256 }, (_, item) => outcome(batch.submit(item))));
    expect(runs).to.equal(1 + 2 * Math.log2(256));
  });

  it('tells an outage to all of its items without another run', async () => {
    const { submit, runs } = steered();
    const outcomes = [submit(1), submit(2), submit(3)].map(outcome);
    await turnsUntil(() => runs.length === 1);
    runs[0]?.fail(new Outage('away'));
    expect(await Promise.all(outcomes)).to.deep.equal(['away', 'away', 'away']);
    await turn();
    expect(runs).to.have.length(1);
  });

  it('ends its search for a bad item when Postgres goes away meanwhile', async () => {
    const { submit, runs } = steered();
    const outcomes = [submit(1), submit(2), submit(3), submit(4)].map(outcome);
    await turnsUntil(() => runs.length === 1);
    runs[0]?.fail(new Error('bad row'));
    await turnsUntil(() => runs.length === 2);
    runs[1]?.fail(new Outage('away'));
    expect(await Promise.all(outcomes)).to.deep.equal(['away', 'away', 'away', 'away']);
    await turn();
    expect(runs).to.have.length(2);
  });

  it('goes on with the next items after a run has failed', async () => {
    const { submit, runs } = steered({ inFlight: 1 });
    const first = outcome(submit(1));
    await turnsUntil(() => runs.length === 1);
    const second = submit(2);
    runs[0]?.fail(new Outage('away'));
    await turnsUntil(() => runs.length === 2);
    runs[1]?.succeed();
    expect(await first).to.equal('away');
    expect(await second).to.equal(4);
  });

  it('rejects an item to which the run gave no result', async () => {
    const batch = createBatch(
      (items: readonly number[]) => Promise.resolve(items.slice(1)),
      limits,
      isOutage,
      ofOneBox,
    );
    const outcomes = await Promise.all([1, 2].map((item) => outcome(batch.submit(item))));
    expect(outcomes).to.deep.equal([2, 'the batch gave no result']);
  });

  describe('whose runs never end', () => {
    it('rejects what runs and what waits when its time is over', async () => {
      const { submit, runs } = steered({ inFlight: 1, patience: 300 });
      const running = submit(1);
      await turnsUntil(() => runs.length === 1);
      expect(await Promise.all([running, submit(2)].map(outcome))).to.deep.equal(['overdue', 'overdue']);
      expect(runs).to.have.length(1);
    });

    it('leaves out of the next run whoever gave up waiting', async () => {
      const { submit, runs } = steered({ inFlight: 1, patience: 300 });
      void outcome(submit(1));
      await turnsUntil(() => runs.length === 1);
      await outcome(submit(2));
      const late = submit(3);
      runs[0]?.succeed();
      await turnsUntil(() => runs.length === 2);
      expect(runs[1]?.items).to.deep.equal([3]);
      runs[1]?.succeed();
      expect(await late).to.equal(6);
    });
  });

  it('answers every item of any schedule, each with its own result', async () => {
    const schedule = fc.array(fc.record({ items: fc.nat(9), bad: fc.boolean() }), { maxLength: 12 });
    const sizes = fc.record({ size: fc.integer({ min: 1, max: 6 }), inFlight: fc.integer({ min: 1, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(schedule, sizes, async (steps, sizesOf) => {
        const bad = new Set<number>();
        const batch = immediate((items) => {
          if (items.some((item) => bad.has(item))) throw new Error('bad row');
        }, sizesOf);
        const outcomes: Promise<number | string>[] = [];
        for (const step of steps) {
          if (step.bad) bad.add(outcomes.length);
          for (let count = 0; count < step.items; count += 1) outcomes.push(outcome(batch.submit(outcomes.length)));
          await turn();
        }
        const expected = outcomes.map((_, item) => (bad.has(item) ? 'bad row' : item * 2));
        expect(await Promise.all(outcomes)).to.deep.equal(expected);
      }),
    );
  });
});
