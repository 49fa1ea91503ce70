import { expect } from 'chai';
import fc from 'fast-check';
import { merged } from '../../api/policy/merge.ts';

interface Item {
  readonly id: number;
}

function isBefore(one: Item, other: Item): boolean {
  return one.id < other.id;
}

/** Items, and sorted lists of some of them: an item may be in several lists, a list may be empty. */
const world = fc.integer({ min: 1, max: 40 }).chain((count) => {
  const items = Array.from({ length: count }, (_, id): Item => ({ id }));
  const list = fc.uniqueArray(fc.constantFrom(...items)).map(sorted);
  return fc.array(list, { maxLength: 12 });
});

/** The merge in the slow way. */
function sorted(items: Iterable<Item>): readonly Item[] {
  return [...new Set(items)].toSorted((one, other) => one.id - other.id);
}

describe('merge of sorted lists', () => {
  it('yields what sorting yields, each element once', () => {
    fc.assert(
      fc.property(world, (lists) => {
        expect([...merged(lists, isBefore)]).to.deep.equal(sorted(lists.flat()));
      }),
    );
  });

  it('leaves out the elements that are not wanted, and no others', () => {
    fc.assert(
      fc.property(world, fc.integer({ min: 1, max: 4 }), (lists, part) => {
        const isKept = ({ id }: Item) => id % part === 0;
        expect([...merged(lists, isBefore, isKept)]).to.deep.equal(sorted(lists.flat()).filter(isKept));
      }),
    );
  });

  const LISTS = 1_000;
  const ELEMENTS = 25_000;

  it('P-07 compares each element of many lists with ten others, not with the first of each list', () => {
    const lists = Array.from({ length: LISTS }, (): Item[] => []);
    for (let id = 0; id < ELEMENTS; id += 1) lists[(id * 7_919) % LISTS]?.push({ id });
    let compared = 0;
    const all = merged(lists, (one, other) => {
      compared += 1;
      return isBefore(one, other);
    });
    expect(Array.from(all, ({ id }) => id)).to.deep.equal(Array.from({ length: ELEMENTS }, (_, id) => id));
    expect(compared).to.be.lessThan(11 * (ELEMENTS + LISTS));
  });

  it('P-07 compares none of the elements that are not wanted', () => {
    const lists = Array.from({ length: LISTS }, (_, list) => [{ id: list }, { id: LISTS + list }]);
    let compared = 0;
    const all = merged(
      lists,
      (one, other) => {
        compared += 1;
        return isBefore(one, other);
      },
      ({ id }) => id === LISTS + 1,
    );
    expect(Array.from(all, ({ id }) => id)).to.deep.equal([LISTS + 1]);
    expect(compared).to.equal(0);
  });
});
