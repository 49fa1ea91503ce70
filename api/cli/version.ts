import { releaseVersion } from '../../process/version.ts';
import type { Command } from './command.ts';
import { column } from './resource/texts.ts';

/** `boxctl version`. */
export const version: Command = {
  name: 'version',
  summary: 'prints the version of boxctl',
  examples: ['boxctl version'],
  arguments: [0, 0],
  async run({ confirm }) {
    const record = { version: releaseVersion() };
    await confirm(`boxctl ${record.version}`, record, [column('VERSION', 'version')]);
  },
};

/** Returns what `boxctl --version` prints. */
export function versionLine(): string {
  return `boxctl ${releaseVersion()}\n`;
}
