import { stringify } from 'yaml';
import type { Command } from '../command.ts';
import { liveState } from './live-state.ts';
import { manifestsOf } from './manifests.ts';

/** `boxctl export`: the live state of a box as manifests. */
export const exportBox: Command = {
  name: 'export',
  summary: 'prints the quotas, settings, groups, clients and policies of the box as manifests, without secrets',
  examples: ['boxctl export > shop.yaml', 'boxctl export --output json'],
  arguments: [0, 0],
  async run({ values, terminal, address, box, print }) {
    const manifests = manifestsOf(await liveState(await box(), terminal), (await address()).box);
    if (values['output'] === 'json') await print({ apiVersion: 'v1', kind: 'List', items: manifests }, 'json', []);
    else terminal.output.write(manifests.map((manifest) => `---\n${yamlOf(manifest)}`).join(''));
  },
};

/** Writes YAML in which strings that kubectl reads as something else are quoted. */
function yamlOf(manifest: object): string {
  return stringify(manifest, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
