import { isList } from '../../../crds/path.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Command } from '../command.ts';
import { liveState } from './live-state.ts';

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
