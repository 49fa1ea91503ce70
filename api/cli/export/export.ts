import type { Command } from '../command.ts';
import { yamlText } from '../output.ts';
import { liveState } from './live-state.ts';

/** `boxctl export`: the live state of a box as manifests. */
export const exportBox: Command = {
  name: 'export',
  summary: 'prints the quotas, settings, groups, clients and policies of the box as manifests, without secrets',
  examples: ['boxctl export > shop.yaml', 'boxctl export --output json'],
  withoutFormats: ['table'],
  arguments: [0, 0],
  async run({ values, terminal, address, box, print }) {
    const state = await liveState(await box(), terminal);
    // Validation takes long to load, and other commands do without.
    const { manifestsOf } = await import('./manifests.ts');
    const manifests = manifestsOf(state, (await address()).box);
    if (values['output'] === 'json') await print({ apiVersion: 'v1', kind: 'List', items: manifests }, 'json', []);
    else terminal.output.write(await yamlOf(manifests));
  },
};

/** Writes a document for each manifest, in which strings that kubectl reads as something else are quoted. */
async function yamlOf(manifests: readonly object[]): Promise<string> {
  const options = { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
  const documents = await Promise.all(manifests.map((manifest) => yamlText(manifest, options)));
  return documents.map((document) => `---\n${document}`).join('');
}
