import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
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
  return new Promise((resolve, reject) => {
    const child = spawn('/usr/bin/apt-get', [...parameters], {
      stdio: ['ignore', 'ignore', 'inherit'],
      // Without apt-utils each call would warn of that.
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', DEBCONF_NOWARNINGS: 'yes' },
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`apt-get ${parameters.join(' ')} ended with ${String(code)}`));
    });
  });
}
