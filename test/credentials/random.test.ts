import { expect } from 'chai';
import { fillRandom } from '../../api/credentials/token-text.ts';

describe('random bytes', () => {
  it('fill exactly the part of the target that is asked for', () => {
    const target = Buffer.alloc(40, 7);
    fillRandom(target, 4, 32);
    expect([...target.subarray(0, 4), ...target.subarray(36)]).to.deep.equal(Array(8).fill(7));
    expect(target.subarray(4, 36).every((byte) => byte === 7)).to.equal(false);
  });

  it('never repeat, also across the end of the block they are taken from', () => {
    const seen = new Set<string>();
    const target = Buffer.alloc(48);
    for (let count = 0; count < 2000; count += 1) {
      fillRandom(target, 0, 48);
      seen.add(target.toString('hex'));
    }
    expect(seen.size).to.equal(2000);
  });
});
