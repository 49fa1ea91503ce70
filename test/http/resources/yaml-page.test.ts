import { expect } from 'chai';
import fc from 'fast-check';
import { yamlInSlices, yamlOf } from '../../../api/http/resources/yaml-page.ts';

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

describe('a page in YAML', () => {
  it('R-06 is written in slices, none of which holds the event loop for as long as the page takes', async () => {
    const body = bundleOf(Array.from({ length: 1_000 }, (_, index) => session(index)));
    const costs: number[] = [];
    const text = await yamlInSlices(body, async (slice) => {
      const before = process.threadCpuUsage();
      slice();
      costs.push(process.threadCpuUsage(before).user);
    });
    const sum = costs.reduce((total, cost) => total + cost, 0);
    expect(text).to.equal(yamlOf(body));
    expect(costs.length).to.be.at.least(3);
    expect(Math.max(...costs)).to.be.below(sum / 2);
  });

  it('is the same as if it were written at once, whatever its texts are', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a\n\n b\n', ' \n x', '\u2028y\r\n', '- a\n#b'),
    );
    const values = fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), text));
    await fc.assert(
      fc.asyncProperty(values, fc.boolean(), async (items, isBundle) => {
        const body = isBundle ? bundleOf(items) : items;
        expect(
          await yamlInSlices(body, async (slice) => {
            slice();
          }),
        ).to.equal(yamlOf(body));
      }),
      { numRuns: 60 },
    );
  });
});
