import { expect } from 'chai';
import fc from 'fast-check';
import { Outage } from '../../api/db/core/outage.ts';
import { Problem } from '../../api/problem.ts';
import { createFairQueue } from '../../api/shares/fair-queue.ts';
import type { FairQueue, FairQueueLimits, Sharer } from '../../api/shares/fair-queue.ts';
import { virtualTime } from '../support/virtual-time.ts';
import type { VirtualTime } from '../support/virtual-time.ts';

const limits: FairQueueLimits = {
  places: 4,
  mostOfOne: 2,
  waiting: 1_000,
  patience: 1e9,
};
const names = { resource: 'test', noun: 'a place' };

interface Setting {
  readonly time: VirtualTime;
  readonly queue: FairQueue;
}

function setting(own: Partial<FairQueueLimits> = {}): Setting {
  const time = virtualTime();
  return { time, queue: createFairQueue(names, { ...limits, ...own }, time) };
}

/** Work that takes so many milliseconds of the virtual clock. */
function lasting(time: VirtualTime, milliseconds: number): () => Promise<void> {
  return () => new Promise((resolve) => void time.schedule(milliseconds, resolve));
}

/** A sharer that keeps `parallel` pieces of work in the queue, each of `cost` milliseconds. */
interface Load extends Sharer {
  readonly cost: number;
  readonly parallel: number;
}

/** Runs the loads for a while; returns the milliseconds of places that each used, and its refusals. */
async function compete({ time, queue }: Setting, loads: readonly Load[], span: number) {
  const figures = loads.map(() => ({ used: 0, served: 0, refused: 0 }));
  const again = (load: Load, index: number): void => {
    const figure = figures[index];
    if (figure === undefined || time.now() >= span) return;
    const done = (outcome: 'served' | 'refused'): void => {
      figure[outcome] += 1;
      if (outcome === 'served') {
        figure.used += load.cost;
        again(load, index);
      } else time.schedule(1, retry);
    };
    const retry = (): void => {
      again(load, index);
    };
    void queue.run(load, lasting(time, load.cost)).then(
      () => {
        done('served');
      },
      () => {
        done('refused');
      },
    );
  };
  loads.forEach((load, index) => {
    for (let count = 0; count < load.parallel; count += 1) again(load, index);
  });
  await time.pass(span);
  return figures;
}

const greedy: Load = { box: 'greedy', member: 'a', cost: 100, parallel: 64 };

describe('the fair queue', () => {
  it('runs work at once while places are free, and gives its result', async () => {
    const { queue } = setting();
    expect(await queue.run(greedy, async () => 'done')).to.equal('done');
    expect(queue.depth).to.equal(0);
  });

  it('gives the error of work that fails, and its place to the next', async () => {
    const { queue } = setting({ places: 1 });
    const failing = queue.run(greedy, () => Promise.reject(new TypeError('broken')));
    const next = queue.run(greedy, async () => 'next');
    const outcomes = await Promise.allSettled([failing, next]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled']);
  });

  it('lets a box that is alone use every place, and refuses nothing for fairness', async () => {
    const own = setting();
    const [alone] = await compete(own, [greedy], 10_000);
    expect(alone).to.deep.equal({ used: 4 * 10_000, served: 400, refused: 0 });
  });

  it('holds a box that asks for everything to half of the places while another wants the rest', async () => {
    const own = setting();
    const loads = [greedy, { ...greedy, box: 'other', cost: 10, parallel: 64 }];
    const [first, second] = await compete(own, loads, 10_000);
    expect(second?.used).to.be.within(19_000, 21_000);
    expect(first?.used).to.be.within(19_000, 21_000);
  });

  it('serves a box that wants little nearly as if it were alone, however much another one wants', async () => {
    const own = setting();
    const modest: Load = { box: 'modest', member: 'a', cost: 10, parallel: 2 };
    const quiet = await compete(setting(), [modest], 10_000);
    const [, loud] = await compete(own, [greedy, modest], 10_000);
    expect(loud?.served).to.be.above(0.9 * (quiet[0]?.served ?? Infinity));
  });

  it('divides the time of a box among its members in the same way', async () => {
    const own = setting();
    const loads = [greedy, { ...greedy, member: 'b', cost: 10 }];
    const [first, second] = await compete(own, loads, 10_000);
    expect(second?.used).to.be.within(19_000, 21_000);
    expect(first?.used).to.be.within(19_000, 21_000);
  });

  it('gives a box no more because it has many members', async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ ...greedy, member: `m${String(index)}`, parallel: 4 }));
    const figures = await compete(setting(), [{ ...greedy, box: 'other' }, ...many], 10_000);
    expect(figures[0]?.used).to.be.within(19_000, 21_000);
  });

  it('starves nobody: long work delays the next work of its box by the longest debt, not by its own time', async () => {
    const { time, queue } = setting({ places: 1, mostOfOne: 1 });
    let ended = -1;
    const busy = compete({ time, queue }, [{ ...greedy, box: 'busy', cost: 10, parallel: 2 }], 70_000);
    await queue.run({ box: 'slow', member: 'a' }, lasting(time, 0)).catch(() => undefined);
    const long = queue.run({ box: 'slow', member: 'a' }, lasting(time, 60_000));
    const next = queue.run({ box: 'slow', member: 'a' }, async () => void (ended = time.now()));
    await time.pass(70_000);
    await Promise.all([busy, long, next]);
    expect(ended).to.be.within(60_000, 60_700);
  });

  it('remembers nobody once it is idle, and few of those that come once while others work', async () => {
    const { time, queue } = setting({ waiting: 1e6 });
    const all = Array.from({ length: 2_000 }, (_, index) =>
      queue.run({ box: `box-${String(index)}`, member: 'a' }, lasting(time, 1)),
    );
    let most = 0;
    await time.pass(10_000, () => (most = Math.max(most, queue.uses().length - queue.depth)));
    await Promise.all(all);
    expect(most).to.be.at.most(1_000);
    expect(queue.uses()).to.deep.equal([]);
  });

  it('takes the youngest place of the box that waits most when the line is full', async () => {
    const { time, queue } = setting({ places: 1, waiting: 3 });
    const greedyRuns = [1, 2, 3, 4].map(() => queue.run(greedy, lasting(time, 10)));
    const other = queue.run({ box: 'other', member: 'a' }, lasting(time, 10));
    const settled = Promise.allSettled([...greedyRuns, other]);
    await time.pass(1_000);
    const outcomes = await settled;
    expect(outcomes.map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    const [, , , youngest] = outcomes;
    expect(youngest?.status === 'rejected' && youngest.reason)
      .to.be.instanceOf(Problem)
      .and.to.include({ code: 'throttled' });
    expect([...queue.refusals()]).to.deep.equal([['greedy', 1]]);
  });

  it('R-03 refuses no newcomer of a quiet box because each member of a busy one waits only once', async () => {
    const { time, queue } = setting({ places: 1, mostOfOne: 1, waiting: 8 });
    const outcomes: string[] = [];
    const run = (box: string, member: string): void => {
      void queue.run({ box, member }, lasting(time, 100)).then(
        () => outcomes.push(`${box} served`),
        () => outcomes.push(`${box} refused`),
      );
    };
    for (let nth = 0; nth < 9; nth += 1) run('busy', String(nth));
    run('quiet', 'a');
    await time.pass(2_000);
    expect(outcomes.filter((outcome) => outcome !== 'busy served').toSorted()).to.deep.equal([
      'busy refused',
      'quiet served',
    ]);
  });

  it('refuses a box that is alone only when the line is full, as an outage and not for fairness', async () => {
    const { time, queue } = setting({ places: 1, waiting: 1 });
    const runs = Promise.allSettled([1, 2, 3].map(() => queue.run(greedy, lasting(time, 10))));
    await time.pass(100);
    const [, , third] = await runs;
    expect(third?.status === 'rejected' && third.reason).to.be.instanceOf(Outage);
  });

  it('refuses a box that is alone as its own fault where it is limited even then', async () => {
    const { time, queue } = setting({ mostOfOne: 1, isFixed: true, patience: 50 });
    const runs = Promise.allSettled([1, 2].map(() => queue.run(greedy, lasting(time, 100))));
    await time.pass(200);
    const [, second] = await runs;
    expect(second?.status === 'rejected' && second.reason).to.be.instanceOf(Problem);
  });

  it('refuses work that waited too long: as an outage where only others were served, else as its own fault', async () => {
    const { time, queue } = setting({ places: 2, mostOfOne: 1, patience: 50 });
    const long = [0, 1].map((index) => queue.run({ box: `long-${String(index)}`, member: 'a' }, lasting(time, 100)));
    const own = queue.run({ box: 'long-0', member: 'b' }, lasting(time, 1));
    const other = queue.run({ box: 'other', member: 'a' }, lasting(time, 1));
    const settled = Promise.allSettled([own, other, ...long]);
    await time.pass(200);
    const [first, second] = await settled;
    expect(first.status === 'rejected' && first.reason).to.be.instanceOf(Problem);
    expect(second.status === 'rejected' && second.reason).to.be.instanceOf(Outage);
    expect(queue.depth).to.equal(0);
  });

  it('keeps the place of a box for a while after its work where others are there, and gives the result at once', async () => {
    let isBeside = true;
    const { time, queue } = setting({ mostOfOne: 1, rest: 3, isAnyBeside: () => isBeside });
    const begun: number[] = [];
    const run = (): Promise<void> =>
      queue.run(greedy, () => {
        begun.push(time.now());
        return lasting(time, 10)();
      });
    const first = run();
    const second = run();
    await time.pass(15);
    await first;
    expect(begun).to.deep.equal([0]);
    isBeside = false;
    await time.pass(100);
    await second;
    expect(begun).to.deep.equal([0, 40]);
  });

  /** Loads of as many boxes, each with as many pieces at once as may be. */
  const loadsOf = (boxes: { min: number; max: number }, parallel: { min: number; max: number }) =>
    fc
      .array(fc.record({ cost: fc.integer({ min: 1, max: 200 }), parallel: fc.integer(parallel) }), {
        minLength: boxes.min,
        maxLength: boxes.max,
      })
      .map((loads) => loads.map((one, index) => ({ ...one, box: `box-${String(index)}`, member: 'a' })));
  const span = 5_000;
  /** Milliseconds of work that is under way at the end, or that a place was held for when it all began. */
  const slack = 400;

  it('leaves a box at least half of what it wants up to half of the places, whatever another one does', async () => {
    await fc.assert(
      fc.asyncProperty(loadsOf({ min: 2, max: 2 }, { min: 1, max: 40 }), async (loads) => {
        const alone = await Promise.all(loads.map((one) => compete(setting(), [one], span)));
        const together = await compete(setting(), loads, span);
        together.forEach(({ used, refused }, index) => {
          const wanted = Math.min(alone[index]?.[0]?.used ?? 0, (limits.places * span) / 2);
          expect(used).to.be.at.least(wanted / 2 - slack);
          expect(refused).to.equal(0);
        });
      }),
      { numRuns: 15 },
    );
  });

  it('leaves each of many boxes at least half of its fair share when all want everything', async () => {
    await fc.assert(
      fc.asyncProperty(loadsOf({ min: 3, max: 6 }, { min: 4, max: 40 }), async (loads) => {
        const together = await compete(setting(), loads, span);
        for (const { used, refused } of together) {
          expect(used).to.be.at.least((limits.places * span) / loads.length / 2 - slack);
          expect(refused).to.equal(0);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('starts every piece of work that waits, in the order of its sharer', async () => {
    const piece = fc.record({
      box: fc.constantFrom('a', 'b', 'c'),
      member: fc.constantFrom('x', 'y'),
      cost: fc.integer({ min: 0, max: 50 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const { time, queue } = setting({ places: 2, mostOfOne: 1 });
        const begun: number[] = [];
        const all = pieces.map((one, index) =>
          queue.run(one, () => {
            begun.push(index);
            return lasting(time, one.cost)();
          }),
        );
        await time.pass(100_000);
        await Promise.all(all);
        const ofOne = (index: number): string => `${pieces[index]?.box ?? ''} ${pieces[index]?.member ?? ''}`;
        for (const key of new Set(begun.map(ofOne))) {
          const order = begun.filter((index) => ofOne(index) === key);
          expect(order).to.deep.equal([...order].sort((one, other) => one - other));
        }
        expect(begun.length).to.equal(pieces.length);
      }),
      { numRuns: 50 },
    );
  });
});
