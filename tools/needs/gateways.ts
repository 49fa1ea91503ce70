import { globSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../cache-folder.ts';
import { runProgram } from '../run-program.ts';
import { findCommand } from './commands.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * A program that tests put in front of an app or a database. It is unpacked and never installed: a package would start
 * it.
 */
export interface Gateway {
  readonly title: string;
  readonly names: readonly [string];
  /** A variable that may name the program. */
  readonly variable: string;
  /** The package of Debian. */
  readonly package: string;
  /** The folder of the program in its package. */
  readonly folder: string;
  /** True: the libraries that it needs and the machine lacks are unpacked too; see {@link librariesOf}. */
  readonly withLibraries?: boolean;
}

/** The gateways that tests put in front of an app. */
export const gateways = {
  nginx: { title: 'nginx', names: ['nginx'], variable: 'NGINX_PATH', package: 'nginx', folder: 'usr/sbin' },
  caddy: { title: 'Caddy', names: ['caddy'], variable: 'CADDY_PATH', package: 'caddy', folder: 'usr/bin' },
} as const satisfies Record<string, Gateway>;

/** The connection pooler that tests put in front of Postgres. */
export const pooler: Gateway = {
  title: 'PgBouncer',
  names: ['pgbouncer'],
  variable: 'PGBOUNCER_PATH',
  package: 'pgbouncer',
  folder: 'usr/sbin',
  withLibraries: true,
};

/**
 * Returns a gateway: the one of its variable, of the PATH or of Debian, otherwise the unpacked one; undefined if there
 * is none.
 */
export function findGateway(gateway: Gateway, environment: Variables): string | undefined {
  const unpacked = path.join(unpackedFolder(gateway, environment), gateway.folder);
  const folders = [environment['PATH'] ?? '', `/${gateway.folder}`, unpacked];
  return findCommand(gateway, { ...environment, PATH: folders.join(path.delimiter) });
}

/**
 * Returns the folders of the unpacked libraries of a gateway, as the value of LD_LIBRARY_PATH; empty if there are none.
 */
export function librariesOf(gateway: Gateway, environment: Variables): string {
  const folder = unpackedFolder(gateway, environment);
  return globSync(['usr/lib/*-linux-gnu*', 'lib/*-linux-gnu*'], { cwd: folder })
    .map((found) => path.join(folder, found))
    .join(path.delimiter);
}

/** Unpacks a gateway from its package of Debian if there is none. Throws an Error of one sentence. */
export async function obtainGateway(
  gateway: Gateway,
  environment: Variables,
  tell: (line: string) => void,
): Promise<void> {
  if (findGateway(gateway, environment) !== undefined) return;
  const folder = unpackedFolder(gateway, environment);
  tell(`unpacking ${gateway.title} from its package of Debian (some seconds)`);
  try {
    // apt-get wants the folder `partial` in that of the packages.
    mkdirSync(path.join(folder, 'partial'), { recursive: true });
    await download(gateway, folder).catch(async () => {
      // A machine may have no lists of packages yet.
      await runProgram('apt-get', ['update', '-qq'], {});
      await download(gateway, folder);
    });
    await runProgram('sh', ['-c', 'for package in *.deb; do dpkg-deb -x "$package" . || exit; done'], { cwd: folder });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown';
    throw new Error(`${gateway.title} not found (${reason}): install it, or name one with ${gateway.variable}`, {
      cause,
    });
  }
}

function download(gateway: Gateway, folder: string): Promise<void> {
  // Its user for downloads may not write to the folder, and would warn of that.
  const options = ['-qq', '-o', 'APT::Sandbox::User=root'];
  const withLibraries = [
    ...['install', '--download-only', '--no-install-recommends', '-y', ...options, '-o', 'Debug::NoLocking=1'],
    ...['-o', `Dir::Cache::archives=${folder}`, gateway.package],
  ];
  const parameters = gateway.withLibraries === true ? withLibraries : ['download', ...options, gateway.package];
  return runProgram('apt-get', parameters, { cwd: folder });
}

function unpackedFolder(gateway: Gateway, environment: Variables): string {
  return path.join(cacheFolder(environment), gateway.package);
}
