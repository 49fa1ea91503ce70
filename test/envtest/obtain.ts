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
import { controllerManager, downloads, platformName, programs, release } from './release.ts';
import type { Downloads, Program, Published } from './release.ts';

/**
 * Finds the programs, or puts them into the cache: from the archives of their publishers, else built. Throws an Error of
 * one sentence where neither can be done, and where a folder that somebody named lacks one.
 */
export async function obtain(
  environment: ProgramEnvironment,
  tell: (line: string) => void,
  from: Downloads = downloads,
): Promise<Programs> {
  const folder = envtestCache(environment);
  await mkdir(folder, { recursive: true });
  const context = { environment, folder, tell, from };
  const there = found(environment) ?? (await obtained(context));
  if (!hasControllerManager(environment)) await obtainControllerManager(context);
  return there;
}

/** The parts that obtaining works with. */
interface Context {
  readonly environment: ProgramEnvironment;
  readonly folder: string;
  readonly tell: (line: string) => void;
  readonly from: Downloads;
}

async function obtained(context: Context): Promise<Programs> {
  const { environment, folder, tell, from } = context;
  await orBuilt(context, programs, async () => {
    const name = `envtest-${release.version}-${platformName()}`;
    tell(`downloading ${names(programs)} (100 MB, about a minute)`);
    const url = `${from.archive.url}/envtest-${release.version}/${name}.tar.gz`;
    await download({ url, sum: sumOf(from.archive) }, programs.map(nameOf), folder);
  });
  return findPrograms({ ...environment, KUBEBUILDER_ASSETS: folder });
}

async function obtainControllerManager(context: Context): Promise<void> {
  const { folder, tell, from } = context;
  await orBuilt(context, [controllerManager], async () => {
    const { version, url } = from.server;
    const sum = sumOf(from.server);
    tell(`downloading ${controllerManager.name} ${version} (400 MB with what comes along, about three minutes)`);
    const archive = `${url}/${version}/kubernetes-server-${platformName()}.tar.gz`;
    await download({ url: archive, sum }, [controllerManager.name], folder);
  });
}

/** Downloads programs, or builds them where that fails. */
async function orBuilt(
  { environment, folder, tell, from }: Context,
  wanted: readonly Program[],
  downloading: () => Promise<void>,
): Promise<void> {
  try {
    await downloading();
  } catch (error) {
    tell(`not downloaded: ${error instanceof Error ? error.message : 'unknown'}`);
    await build(wanted, folder, tell, environment, from.toolchain);
  }
}

const nameOf = ({ name }: Program): string => name;
const names = (wanted: readonly Program[]): string => wanted.map(nameOf).join(', ');

function sumOf({ sums }: Published): string {
  const sum = sums.get(platformName());
  if (sum === undefined) throw new Error(`there is no archive for ${platformName()}`);
  return sum;
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
