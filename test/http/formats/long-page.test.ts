import { expect } from 'chai';
import fc from 'fast-check';
import type { ListPage } from '../../../api/http/resources/resource-exchange.ts';
import { type PageForm, jsonPage, writeInSlices, yamlPage } from '../../../api/http/formats/long-page.ts';

const session = (index: number) => ({
  resourceType: 'Session',
  id: `0193-${String(index)}`,
  client: { resourceType: 'Client', id: 'app' },
  audience: ['https://files.example'],
  description: 'two\n\nlines: yes',
  user_agent: null,
});

const bundle = { resourceType: 'Bundle', link: [] };

function bundleOf(resources: readonly unknown[]) {
  return { ...bundle, entry: resources.map((resource) => ({ resource })) };
}

/** Returns the page of a body: a Bundle, or a list. */
function pageOf(body: ReturnType<typeof bundleOf> | readonly unknown[]): ListPage {
  return 'entry' in body ? { bundle, items: body.entry.values() } : { bundle: undefined, items: body.values() };
}

/** Returns the whole text of a page that was written. */
function textOf(written: string | readonly Buffer[]): string {
  return typeof written === 'string' ? written : Buffer.concat(written).toString();
}

describe('a long page', () => {
  for (const [name, form] of [
    ['YAML', yamlPage],
    ['JSON', jsonPage],
  ] as const) {
    it(`R-06 in ${name} is written in slices, each of which ends with the item in which its 2 ms are over`, async () => {
      const body = bundleOf(Array.from({ length: 12 }, (_, index) => session(index)));
      let items = 0;
      const slow: PageForm = {
        ...form,
        item: (item, place) => {
          const end = performance.now() + 1;
          while (performance.now() < end);
          items += 1;
          return form.item(item, place);
        },
      };
      const itemsOfTurns: number[] = [];
      const written = await writeInSlices(pageOf(body), slow, async (slice) => {
        const before = items;
        slice();
        itemsOfTurns.push(items - before);
      });
      expect(textOf(written)).to.equal(form.whole(body));
      expect(written, 'a piece for each turn').to.have.length(1 + itemsOfTurns.length);
      expect(
        itemsOfTurns.reduce((total, count) => total + count, 0),
        'all but the first',
      ).to.equal(11);
      for (const count of itemsOfTurns) expect(count).to.be.within(1, 3);
    });

    it(`in ${name} is the same as if it were written at once, whatever its texts are`, async () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('a\n\n b\n', ' \n x', '\u2028y\r\n', '- a\n#b'),
      );
      const values = fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), text));
      await fc.assert(
        fc.asyncProperty(values, fc.boolean(), async (items, isBundle) => {
          const body = isBundle ? bundleOf(items) : items;
          const written = await writeInSlices(pageOf(body), form, async (slice) => {
            slice();
          });
          expect(textOf(written)).to.equal(form.whole(body));
        }),
        { numRuns: 60 },
      );
    });
  }

  it('R-06 that is short is written without a turn: it does not wait behind long ones', async () => {
    const body = bundleOf([session(1)]);
    const written = await writeInSlices(pageOf(body), jsonPage, () => Promise.reject(new Error('it asked for a turn')));
    expect(written).to.equal(JSON.stringify(body));
  });
});
