import { mkdir } from 'node:fs/promises';
import { build } from './build.ts';
import { download } from './download.ts';
import {
  envtestCache,
  findControllerManager,
  findPrograms,
  type ProgramEnvironment,
  type Programs,
} from './find-programs.ts';
import { controllerManager, programs, release, type Published } from './release.ts';

/**
 * Finds the programs, or puts them into the cache: from the archive of their publishers, else built. Throws an Error of
 * one sentence where neither can be done, and where a folder that somebody named lacks one.
 */
export async function obtain(
  environment: ProgramEnvironment,
  tell: (line: string) => void,
  published: Published = release,
): Promise<Programs> {
  const there = found(environment) ?? (await obtained(environment, tell, published));
  if (!hasControllerManager(environment)) {
    const folder = envtestCache(environment);
    await mkdir(folder, { recursive: true });
    await build([controllerManager], folder, tell, environment);
  }
  return there;
}

async function obtained(
  environment: ProgramEnvironment,
  tell: (line: string) => void,
  published: Published,
): Promise<Programs> {
  const folder = envtestCache(environment);
  await mkdir(folder, { recursive: true });
  try {
    await fromArchive(folder, tell, published);
  } catch (error) {
    tell(`not downloaded: ${error instanceof Error ? error.message : 'unknown'}`);
    await build(programs, folder, tell, environment);
  }
  return findPrograms({ KUBEBUILDER_ASSETS: folder });
}

function found(environment: ProgramEnvironment): Programs | undefined {
  try {
    return findPrograms(environment);
  } catch (error) {
    // A folder that somebody named is not filled from here.
    if ((environment['KUBEBUILDER_ASSETS'] ?? '') !== '') throw error;
    return undefined;
  }
}

function hasControllerManager(environment: ProgramEnvironment): boolean {
  try {
    return findControllerManager(environment) !== '';
  } catch {
    return false;
  }
}

async function fromArchive(folder: string, tell: (line: string) => void, { url, sums }: Published): Promise<void> {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const sum = sums.get(platform);
  if (sum === undefined) throw new Error(`there is no archive for ${platform}`);
  const name = `envtest-${release.version}`;
  tell(`downloading ${name}-${platform}.tar.gz`);
  await download({ url: `${url}/${name}/${name}-${platform}.tar.gz`, sum }, folder);
}
