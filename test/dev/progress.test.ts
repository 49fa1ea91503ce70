import { expect } from 'chai';
import { createProgress } from '../../dev/output.ts';

function rig(isTTY: boolean) {
  let now = 0;
  let written = '';
  const progress = createProgress({ isTTY, write: (text) => (written += text) }, () => now);
  return {
    at: (time: number, done: number) => {
      now = time;
      progress.report('hashing', done, 10_000);
    },
    progress,
    written: () => written,
  };
}

describe('createProgress', () => {
  it('says nothing about work that is quickly over', () => {
    for (const isTTY of [true, false]) {
      const { at, written } = rig(isTTY);
      at(0, 10);
      at(50, 10_000);
      expect(written()).to.equal('');
    }
  });

  it('writes a line every two seconds where a line cannot be rewritten', () => {
    const { at, written } = rig(false);
    for (const [time, done] of [
      [0, 1],
      [1_000, 1_000],
      [2_000, 2_000],
      [3_000, 3_000],
      [4_500, 5_000],
      [5_000, 10_000],
    ] as const)
      at(time, done);
    expect(written()).to.equal('hashing: 2,000 of 10,000\nhashing: 5,000 of 10,000\nhashing: 10,000 of 10,000\n');
  });

  it('rewrites one line of a terminal, and leaves nothing of it behind', () => {
    const { at, written } = rig(true);
    at(0, 1);
    at(100, 1_000);
    at(150, 1_500);
    at(300, 10_000);
    expect(written()).to.equal('\rhashing: 1,000 of 10,000\u001b[K\rhashing: 10,000 of 10,000\u001b[K\r\u001b[K');
  });

  it('makes room for other output', () => {
    const { at, progress, written } = rig(true);
    at(0, 1);
    at(100, 1_000);
    progress.clear();
    progress.clear();
    expect(written()).to.equal('\rhashing: 1,000 of 10,000\u001b[K\r\u001b[K');
  });
});
