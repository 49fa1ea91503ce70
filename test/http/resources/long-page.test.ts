import { expect } from 'chai';
import fc from 'fast-check';
import { jsonPage, writeInSlices, yamlPage } from '../../../api/http/resources/long-page.ts';

const session = (index: number) => ({
  resourceType: 'Session',
  id: `0193-${String(index)}`,
  client: { resourceType: 'Client', id: 'app' },
  audience: ['https://files.example'],
  description: 'two\n\nlines: yes',
  user_agent: null,
});

function bundleOf(resources: readonly unknown[]) {
  return { resourceType: 'Bundle', link: [], entry: resources.map((resource) => ({ resource })) };
}

describe('a long page', () => {
  for (const [name, form, count] of [
    ['YAML', yamlPage, 1_000],
    ['JSON', jsonPage, 50_000],
  ] as const) {
    it(`R-06 in ${name} is written in slices, none of which holds the event loop for as long as the page takes`, async () => {
      const body = bundleOf(Array.from({ length: count }, (_, index) => session(index)));
      const costs: number[] = [];
      const text = await writeInSlices(body, form, async (slice) => {
        const before = process.threadCpuUsage();
        slice();
        costs.push(process.threadCpuUsage(before).user);
      });
      const sum = costs.reduce((total, cost) => total + cost, 0);
      expect(text === form.whole(body), 'the same text').to.equal(true);
      expect(costs.length).to.be.at.least(3);
      expect(Math.max(...costs)).to.be.below(sum / 2);
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
          const written = await writeInSlices(body, form, async (slice) => {
            slice();
          });
          expect(written).to.equal(form.whole(body));
        }),
        { numRuns: 60 },
      );
    });
  }

  it('R-06 that is short is written without a turn: it does not wait behind long ones', async () => {
    const body = bundleOf([session(1)]);
    const written = await writeInSlices(body, jsonPage, () => Promise.reject(new Error('it asked for a turn')));
    expect(written).to.equal(JSON.stringify(body));
  });
});
