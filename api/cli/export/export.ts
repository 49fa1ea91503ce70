import type { Command } from '../command.ts';
import { yamlText } from '../output.ts';
import { liveState } from './live-state.ts';
import { isList } from '../../../crds/path.ts';
import { CliError, EXIT } from '../cli-error.ts';

/** `boxctl diff <folder>`: how the manifests of a folder differ from the live state of the box. */
export const diffFolder: Command = {
  name: 'diff',
  synopsis: '<folder>',
  summary: 'shows how the manifests in a folder differ from the box; secrets are not compared',
  examples: ['boxctl diff deploy/shop', 'boxctl diff deploy/shop --all --output json'],
  options: { all: { type: 'boolean', summary: 'also shows what no object declares, such as clients made over REST' } },
  arguments: [1, 1],
  async run({ args: [folder = ''], values, terminal, address, box, print }) {
    const [{ declaredObjects }, { differencesOf }] = await Promise.all([
      import('../declared-folder.ts'),
      import('./differences.ts'),
    ]);
    const objects = declaredObjects(folder, (await address()).box);
    const { rows } = await liveState(await box(), terminal);
    const differences = differencesOf(objects, rows, values['all'] === true);
    await print(differences, 'table', [
      { heading: 'CHANGE', text: ({ change }) => String(change) },
      { heading: 'RESOURCE', text: ({ kind, id }) => `${String(kind)}/${String(id)}` },
      { heading: 'FIELDS', text: ({ fields }) => (isList(fields) ? fields.join(', ') : '') },
    ]);
    if (differences.length > 0) throw new CliError(EXIT.gained, '');
  },
};

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
