import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { findCommand } from './commands.ts';
import type { Installer } from './commands.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const packages = ['python3', 'python3-jwt', 'python3-cryptography'];

/**
 * Returns a Python that has PyJWT and cryptography: the first one of the PATH that does, or that of Debian; undefined
 * if there is none.
 */
export function findPython(environment: Variables): string | undefined {
  return [...(environment['PATH'] ?? '').split(path.delimiter), '/usr/bin']
    .map((folder) => findCommand({ title: 'Python', names: ['python3'], package: 'python3' }, { PATH: folder }))
    .find((python) => python !== undefined && hasModules(python, environment));
}

function hasModules(python: string, environment: Variables): boolean {
  return spawnSync(python, ['-c', 'import cryptography, jwt'], { env: environment }).status === 0;
}

/**
 * Installs the modules of Python that programs of the pages use, if there are none. Throws an Error of one sentence.
 */
export async function obtainPython(
  environment: Variables,
  tell: (line: string) => void,
  installer: Installer,
): Promise<void> {
  if (findPython(environment) !== undefined) return;
  let reason = '';
  if (installer.isAllowed) {
    tell('installing PyJWT from Debian (some seconds)');
    await installer.install(packages).catch((cause: unknown) => {
      reason = ` (${cause instanceof Error ? cause.message : 'unknown'})`;
    });
    if (reason === '' && findPython(environment) !== undefined) return;
  }
  throw new Error(
    `PyJWT not found${reason}: run sudo apt-get update && sudo apt-get install --no-install-recommends ${packages.join(' ')}`,
  );
}
