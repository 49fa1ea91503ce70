import { expect } from 'chai';
import { createBoxState } from '../../api/box/box-state.ts';
import type { MovingBoxState } from '../../api/box/box-state.ts';
import { createRecentBoxes } from '../../api/box/loaded-boxes.ts';
import { changes, clientRow, keyRow, sampleSealing } from './sample-changes.ts';

function boxOf(name: string, clients: number): MovingBoxState {
  const state = createBoxState(name, sampleSealing, () => undefined);
  state.take(changes(1, { changed: Array.from({ length: clients }, (_, index) => clientRow(`c${String(index)}`)) }));
  return state;
}

describe('the boxes in memory', () => {
  it('are those that were put', () => {
    const boxes = createRecentBoxes(1_000);
    const state = boxOf('a', 1);
    boxes.put(state);
    expect(boxes.get('a')).to.equal(state);
    expect(boxes.get('b')).to.equal(undefined);
    expect(boxes.size).to.equal(1);
  });

  it('are dropped in the order of their last use, beyond the bound', () => {
    const boxes = createRecentBoxes(100);
    for (const name of ['a', 'b', 'c']) boxes.put(boxOf(name, 25));
    boxes.get('a');
    boxes.put(boxOf('d', 25));
    expect(['a', 'b', 'c', 'd'].filter((name) => boxes.get(name) !== undefined)).to.deep.equal(['a', 'c', 'd']);
  });

  it('hold the one in use, however large it is, and no other with it then', () => {
    const boxes = createRecentBoxes(100);
    boxes.put(boxOf('small', 1));
    boxes.put(boxOf('large', 1_000));
    expect(boxes.get('large')?.clients.size).to.equal(1_000);
    expect(boxes.size).to.equal(1);
  });

  it('weigh what they hold now: a box that grew or shrank is put again', () => {
    const boxes = createRecentBoxes(100);
    const growing = boxOf('growing', 1);
    boxes.put(growing);
    for (let times = 0; times < 50; times += 1) boxes.put(growing);
    boxes.put(boxOf('other', 25));
    expect(boxes.size).to.equal(2);
    growing.take(changes(2, { changed: Array.from({ length: 90 }, (_, index) => clientRow(`more${String(index)}`)) }));
    boxes.put(growing);
    expect(boxes.get('other')).to.equal(undefined);
  });

  it('count for something without a client, and with keys for more', () => {
    const boxes = createRecentBoxes(100);
    for (let nth = 0; nth < 1_000; nth += 1) boxes.put(boxOf(`empty-${String(nth)}`, 0));
    expect(boxes.size).to.be.within(10, 20);
    const [empty, keyed] = [createRecentBoxes(100), createRecentBoxes(100)];
    const key = keyRow('k');
    for (let nth = 0; nth < 50; nth += 1) {
      empty.put(boxOf(`box-${String(nth)}`, 0));
      const state = createBoxState(`box-${String(nth)}`, sampleSealing, () => undefined);
      state.take(changes(1, { keys: [key] }));
      keyed.put(state);
    }
    expect(keyed.size).to.be.lessThan(empty.size);
  });
});
