import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../tools/cache-folder.ts';
import { goBuild } from '../../../tools/envtest/go-build.ts';
import { obtainGo } from '../../../tools/envtest/go.ts';
import { downloads } from '../../../tools/envtest/release.ts';
import { runProgram } from '../../../tools/run-program.ts';
import { findCommand } from '../../../tools/needs/commands.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const release = { tag: 'v2.45.1', commit: '11d2eeb52b42e1980e14cb91e69dd9e3faab2076' };
const repository = 'https://github.com/dexidp/dex';
const command = { title: 'Dex', names: ['dex'], variable: 'DEX_PATH', package: 'dex' };

/** Returns Dex: the one of DEX_PATH or of the PATH, otherwise the built one; undefined if there is none. */
export function findDex(environment: Variables): string | undefined {
  const built = builtDex(environment);
  return findCommand(command, environment) ?? (existsSync(built) ? built : undefined);
}

/**
 * Builds Dex from its repository if there is none: its module has a part that only the repository has beside it, so it
 * cannot be required as a module. Throws an Error of one sentence.
 */
export async function obtainDex(environment: Variables, tell: (line: string) => void): Promise<void> {
  if (findDex(environment) !== undefined) return;
  const go = await obtainGo(environment, tell, downloads.toolchain);
  tell(`building Dex ${release.tag} (three minutes on two cores where nothing is cached)`);
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-dex-'));
  try {
    await clone(folder, environment);
    const output = builtDex(environment);
    await goBuild(go, environment, { module: folder, source: './cmd/dex', output, linkerFlags: '-s -w' });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function builtDex(environment: Variables): string {
  return path.join(cacheFolder(environment), 'peers', `dex-${release.tag}`);
}

/** Clones the release into an empty folder. Throws if the tag has come to name another commit. */
async function clone(folder: string, environment: Variables): Promise<void> {
  const parameters = ['clone', '--quiet', '--depth', '1', '--branch', release.tag, repository, folder];
  await runProgram('git', parameters, { title: `git clone of ${repository}`, env: environment });
  const run = promisify(execFile);
  const { stdout } = await run('git', ['rev-parse', 'HEAD'], { cwd: folder, env: { ...environment } });
  const found = stdout.trim();
  if (found !== release.commit) throw new Error(`${release.tag} of ${repository} is ${found}, not ${release.commit}`);
}
