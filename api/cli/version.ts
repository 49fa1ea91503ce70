import { releaseVersion } from '../../process/version.ts';
import type { Command } from './command.ts';

/** `boxctl version`. */
export const version: Command = {
  name: 'version',
  summary: 'prints the version of boxctl',
  examples: ['boxctl version'],
  arguments: [0, 0],
  run({ terminal }) {
    terminal.output.write(`boxctl ${releaseVersion()}\n`);
    return Promise.resolve();
  },
};
