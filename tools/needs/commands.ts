import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** A command that tests run, and how a machine gets it. */
interface NeededCommand {
  /** Its name in a sentence. */
  readonly title: string;
  /** Any of these will do. */
  readonly names: readonly string[];
  /** A variable that may name the program in place of the PATH. */
  readonly variable?: string;
  /** The package of Debian. */
  readonly package: string;
}

const headlessShell = 'chromium-headless-shell';

/**
 * The browser of the tests that look at pages: any program built from Chromium, which takes two to three times the
 * processor time of the one without a user interface.
 */
export const chromium: NeededCommand = {
  title: 'Chromium',
  names: [headlessShell, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  variable: 'CHROMIUM_PATH',
  package: headlessShell,
};

/** Every command that a test runs and that a small machine may lack. */
export const neededCommands: readonly NeededCommand[] = [
  chromium,
  { title: 'git', names: ['git'], package: 'git' },
  { title: 'JDK', names: ['javac'], package: 'default-jdk-headless' },
  { title: 'openssl', names: ['openssl'], package: 'openssl' },
  { title: 'Python', names: ['python3'], package: 'python3' },
  { title: 'tar', names: ['tar'], package: 'tar' },
];

/**
 * Returns the program of a command: the one that its variable names, otherwise the first on the PATH; undefined if
 * there is none.
 */
export function findCommand(
  { names, variable }: NeededCommand,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const named = variable === undefined ? '' : (environment[variable] ?? '');
  if (named !== '') return isExecutable(named) ? named : undefined;
  const folders = (environment['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isExecutable);
}

/** The way to install packages on a machine. */
export interface Installer {
  /** True where packages of Debian can be installed: by root, where apt-get is there. */
  readonly isAllowed: boolean;
  readonly install: (packages: readonly string[]) => Promise<void>;
}

/**
 * Installs the commands that a machine lacks. Throws an Error of one sentence, with the command that installs them,
 * where this cannot be done.
 */
export async function obtainCommands(
  environment: Readonly<Record<string, string | undefined>>,
  tell: (line: string) => void,
  installer: Installer,
): Promise<void> {
  const misnamed = neededCommands.find(
    ({ variable }) =>
      variable !== undefined && (environment[variable] ?? '') !== '' && !isExecutable(environment[variable]),
  );
  if (misnamed?.variable !== undefined) {
    throw new Error(`${misnamed.variable} names no program: ${String(environment[misnamed.variable])}`);
  }
  const missing = neededCommands.filter((command) => findCommand(command, environment) === undefined);
  if (missing.length === 0) return;
  const packages = missing.map((command) => command.package);
  if (installer.isAllowed) {
    const time = missing.includes(chromium) ? '100 MB, about a minute' : 'some seconds';
    tell(`installing ${packages.join(', ')} from Debian (${time})`);
    await installer.install(packages).catch((cause: unknown) => {
      throw new Error(sentence(missing, cause instanceof Error ? ` (${cause.message})` : ''), { cause });
    });
  }
  const still = missing.filter((command) => findCommand(command, environment) === undefined);
  if (still.length > 0) throw new Error(sentence(still));
}

/** Installs the Chromium without a user interface, where it can be had: any other will do. */
export async function obtainHeadlessShell(
  environment: Readonly<Record<string, string | undefined>>,
  tell: (line: string) => void,
  installer: Installer,
): Promise<void> {
  if (!installer.isAllowed || findCommand({ ...chromium, names: [headlessShell] }, environment) !== undefined) return;
  tell(`installing ${headlessShell} from Debian (100 MB, about a minute)`);
  await installer.install([headlessShell]).catch((error: unknown) => {
    tell(`${headlessShell} cannot be had: ${error instanceof Error ? error.message : 'unknown'}`);
  });
}

function sentence(missing: readonly NeededCommand[], reason = ''): string {
  const titles = missing.map(({ title }) => title).join(', ');
  const packages = missing.map((command) => command.package).join(' ');
  const other = missing.includes(chromium) ? ', or name a Chromium with CHROMIUM_PATH' : '';
  const command = `sudo apt-get update && sudo apt-get install --no-install-recommends ${packages}`;
  return `${titles} not found${reason}: run ${command}${other}`;
}

function isExecutable(file: string | undefined): boolean {
  try {
    accessSync(file ?? '', constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
