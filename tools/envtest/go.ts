import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, glob, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { debian } from '../needs/debian.ts';
import { fetchChecked } from './download.ts';
import { envtestCache } from './find-programs.ts';
import type { ProgramEnvironment } from './find-programs.ts';
import { platformName } from './release.ts';
import type { Toolchain } from './release.ts';

const run = promisify(execFile);

/** The folders with the go.mod and go.sum of the programs. */
export const goModules = path.join(import.meta.dirname, 'modules');

/**
 * Returns a `go` command that the modules can be built with: the one on the PATH if it is new enough, otherwise that of
 * the module golang.org/toolchain, which is downloaded once. Throws an Error of one sentence, with the command that
 * installs Go.
 */
export async function obtainGo(
  environment: ProgramEnvironment,
  tell: (line: string) => void,
  toolchain: Toolchain,
): Promise<string> {
  const least = leastVersion();
  const onPath = await versionOf('go', environment);
  if (onPath !== undefined && isAtLeast(onPath, least)) return 'go';
  const root = path.join(envtestCache(environment), `go${toolchain.version}`);
  const program = path.join(root, 'bin', 'go');
  if ((await versionOf(program, environment)) !== undefined) return program;
  const found = onPath === undefined ? 'Go is not installed' : `Go ${onPath} is older than ${least}`;
  try {
    if (onPath === undefined && environment['GOPROXY'] === undefined && debian.isAllowed) {
      tell('installing golang-go from Debian, which knows the module proxy (250 MB, about a minute)');
      await debian.install(['golang-go']);
    }
    const proxy = await proxyOf(environment);
    tell(`${found}: downloading Go ${toolchain.version} from the module proxy (70 MB, about a minute)`);
    await unpack(proxy, toolchain, root);
    return program;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    const archive = `https://go.dev/dl/go${toolchain.version}.${platformName()}.tar.gz`;
    const command = `curl -L ${archive} | sudo tar -C /usr/local -xz && export PATH=$PATH:/usr/local/go/bin`;
    throw new Error(`${found}, and it could not be downloaded (${reason}): run ${command}`, { cause: error });
  }
}

/** The version of Go that every module wants at least. */
export function leastVersion(): string {
  const versions = ['etcd', 'kubernetes'].map((module) => {
    const [, version = ''] = /^go (\S+)$/m.exec(readFileSync(path.join(goModules, module, 'go.mod'), 'utf8')) ?? [];
    return version;
  });
  return versions.reduce((one, other) => (isAtLeast(one, other) ? one : other));
}

/** Checks whether one version, such as `1.26.8`, is another or newer. */
export function isAtLeast(one: string, other: string): boolean {
  const [ones, others] = [one, other].map((text) => text.split('.').map(Number));
  for (const [at, number] of (others ?? []).entries()) {
    const mine = ones?.[at] ?? 0;
    if (mine !== number) return mine > number;
  }
  return true;
}

/**
 * Returns the version of a `go` command, undefined if it cannot be run. It is to tell of itself, not of another that it
 * would get.
 */
async function versionOf(program: string, environment: ProgramEnvironment): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, ['version'], { env: { ...environment, GOTOOLCHAIN: 'local' } });
    return /^go version go(\d+(?:\.\d+)*)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

/** Unpacked aside first: the folder is there whole or not at all. */
async function unpack(proxy: string, { version, sums }: Toolchain, root: string): Promise<void> {
  const platform = platformName();
  const sum = sums.get(platform);
  if (sum === undefined) throw new Error(`there is none for ${platform}`);
  const name = `v0.0.1-go${version}.${platform}`;
  const archive = await fetchChecked({ url: `${proxy}/golang.org/toolchain/@v/${name}.zip`, sum });
  const draft = await mkdtemp(path.join(path.dirname(root), '.go-'));
  try {
    await writeFile(path.join(draft, 'go.zip'), archive);
    await run('python3', ['-m', 'zipfile', '-e', 'go.zip', '.'], { cwd: draft });
    const unpacked = path.join(draft, `golang.org/toolchain@${name}`);
    // Modules keep no permissions.
    for await (const file of glob('{bin,pkg/tool}/**', { cwd: unpacked }))
      await chmod(path.join(unpacked, file), 0o755);
    await rm(root, { recursive: true, force: true });
    await rename(unpacked, root);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Returns the module proxy that Go itself would ask: the first of GOPROXY, which any Go on the PATH knows. */
async function proxyOf(environment: ProgramEnvironment): Promise<string> {
  const listed = environment['GOPROXY'] ?? (await proxiesOfGo(environment));
  const proxy = listed.split(/[,|]/).find((one) => /^https?:\/\//.test(one));
  if (proxy === undefined) throw new Error('GOPROXY names no module proxy');
  return proxy.trim().replace(/\/+$/, '');
}

async function proxiesOfGo(environment: ProgramEnvironment): Promise<string> {
  try {
    return (await run('go', ['env', 'GOPROXY'], { env: environment })).stdout;
  } catch (cause) {
    throw new Error('neither GOPROXY nor a Go on the PATH names a module proxy', { cause });
  }
}
