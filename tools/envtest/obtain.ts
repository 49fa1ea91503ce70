import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { download } from './download.ts';
import {
  envtestCache,
  findControllerManager,
  findPrograms,
  type ProgramEnvironment,
  type Programs,
} from './find-programs.ts';
import { goBuild } from './go-build.ts';
import { goModules, obtainGo } from './go.ts';
import { controllerManager, downloads, platformName, programs, release } from './release.ts';
import type { Downloads, Program, Published } from './release.ts';

/**
 * Finds the programs, or puts them into the cache: from the archives of their publishers, otherwise built. Throws an
 * Error of one sentence if neither can be done, and if a folder that somebody named lacks one.
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
  const { environment, folder, from } = context;
  const name = `envtest-${release.version}-${platformName()}`;
  await orBuilt(context, {
    programs,
    title: `${names(programs)} (100 MB, about a minute)`,
    published: from.archive,
    url: `${from.archive.url}/envtest-${release.version}/${name}.tar.gz`,
    inside: 'controller-tools/envtest',
  });
  return findPrograms({ ...environment, KUBEBUILDER_ASSETS: folder });
}

async function obtainControllerManager(context: Context): Promise<void> {
  const { version, url } = context.from.server;
  await orBuilt(context, {
    programs: [controllerManager],
    title: `${controllerManager.name} ${version} (400 MB with what comes along, about three minutes)`,
    published: context.from.server,
    url: `${url}/${version}/kubernetes-server-${platformName()}.tar.gz`,
    inside: 'kubernetes/server/bin',
  });
}

/** Programs that come in one archive. */
interface Wanted {
  readonly programs: readonly Program[];
  /** Their names with the size of the archive, and the time that it takes. */
  readonly title: string;
  readonly published: Published;
  /** The URL of the archive. */
  readonly url: string;
  /** The folder of the archive that holds them. */
  readonly inside: string;
}

/** Downloads programs, or builds them where that fails. Throws an Error of one sentence where neither can be done. */
async function orBuilt({ environment, folder, tell, from }: Context, wanted: Wanted): Promise<void> {
  try {
    const sum = sumOf(wanted.published);
    tell(`downloading ${wanted.title}`);
    await download({ url: wanted.url, sum }, wanted.programs.map(nameOf), folder);
  } catch (error) {
    tell(`not downloaded: ${messageOf(error)}`);
    const go = await obtainGo(environment, tell, from.toolchain);
    await build(wanted.programs, { go, folder, tell, environment }).catch((cause: unknown) => {
      const sentence = `${names(wanted.programs)} could be neither downloaded nor built (${messageOf(cause)})`;
      throw new Error(`${sentence}: run ${byHand(wanted, folder)}`, { cause });
    });
  }
}

/** Builds programs from the pinned Go modules with a `go` command. Throws if a build fails. */
async function build(
  programs: readonly Program[],
  builder: Omit<Context, 'from'> & { readonly go: string },
): Promise<void> {
  const { go, environment, folder, tell } = builder;
  const version = /^\tk8s\.io\/kubernetes (v\S+)/m.exec(goMod('kubernetes'))?.[1];
  if (version === undefined) throw new Error('modules/kubernetes/go.mod requires no k8s.io/kubernetes');
  for (const { name, module, source, minutes } of programs) {
    const time = minutes === 1 ? 'a minute' : `${String(minutes)} minutes`;
    tell(`building ${name} (about ${time} on two cores where nothing is cached)`);
    const output = path.join(folder, name);
    const program = { module: path.join(goModules, module), source, output, linkerFlags: linkerFlags(version) };
    await goBuild(go, environment, program);
  }
}

function goMod(module: string): string {
  return readFileSync(path.join(goModules, module, 'go.mod'), 'utf8');
}

/** Returns the linker flags of the Kubernetes release scripts, which tell the programs their version; etcd has none. */
function linkerFlags(version: string): string {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const variables = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) => [
    `-X ${name}.gitVersion=${version}`,
    `-X ${name}.gitMajor=${major}`,
    `-X ${name}.gitMinor=${minor}`,
  ]);
  return ['-s', '-w', ...variables].join(' ');
}

/** Returns the command of a person who can reach the archive, from here or by way of another machine. */
function byHand({ programs: wanted, published, url, inside }: Wanted, folder: string): string {
  if (!published.sums.has(platformName())) return 'make needs again';
  const files = wanted.map(({ name }) => `${inside}/${name}`).join(' ');
  return `curl -L ${url} | tar -C ${folder} --strip-components=${String(inside.split('/').length)} -xz ${files}`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');
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
