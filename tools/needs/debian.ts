import { existsSync } from 'node:fs';
import { runProgram } from '../run-program.ts';
import type { Installer } from './commands.ts';

/** The packages of Debian on this machine. */
export const debian: Installer = {
  isAllowed: process.getuid?.() === 0 && existsSync('/usr/bin/apt-get'),
  async install(packages) {
    await aptGet(['update', '-qq']);
    await aptGet(['install', '-y', '-qq', '--no-install-recommends', ...packages]);
  },
};

function aptGet(parameters: readonly string[]): Promise<void> {
  return runProgram('/usr/bin/apt-get', parameters, {
    title: `apt-get ${parameters.join(' ')}`,
    // Without apt-utils each call would warn of that.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', DEBCONF_NOWARNINGS: 'yes' },
  });
}
