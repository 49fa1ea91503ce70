import { expect } from 'chai';
import fc from 'fast-check';
import { render, renderAnswer } from '../../../api/http/formats/negotiate.ts';

const bundle = { resourceType: 'Bundle', link: [] };

describe('a page', () => {
  for (const format of ['application/yaml', 'application/json'] as const) {
    it(`in ${format} is the same as if it were written at once, whatever its texts are`, async () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('a\n\n b\n', ' \n x', '\u2028y\r\n', '- a\n#b'),
      );
      const values = fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), text));
      await fc.assert(
        fc.asyncProperty(values, fc.boolean(), async (items, isBundle) => {
          const body = isBundle ? { ...bundle, entry: items } : items;
          const page = { bundle: isBundle ? bundle : undefined, items: items.values() };
          const written = await renderAnswer({ status: 200, page }, format);
          expect(written).to.deep.equal(render({ status: 200, body }, format));
        }),
        { numRuns: 60 },
      );
    });

    it(`in ${format} lets other requests have their turn`, async () => {
      let turns = 0;
      const count = setInterval(() => (turns += 1), 0);
      await renderAnswer({ status: 200, page: { bundle, items: slow() } }, format);
      clearInterval(count);
      expect(turns).to.be.at.least(3);
    });
  }
});

/** Yields records, each of which takes 2 ms to show. */
function* slow(): Generator<object> {
  for (let index = 0; index < 12; index += 1) {
    const end = performance.now() + 2;
    while (performance.now() < end);
    yield { index };
  }
}
