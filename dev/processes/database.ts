import { isList, isObject, parseJson } from '../../crds/path.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { reasonOf } from '../../api/client/manifest/walk.ts';
import { DevError, isPostgresUrl } from '../options.ts';
import { Secret } from '../../api/client/secret.ts';
import type { DevOutput } from '../output.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { keepRunning, type StopAtEnd } from '../keep-running.ts';
import type { StateFolder } from './state-folder.ts';

/** A database to prepare: the URLs of its owner and of the API's role, and whether the owner creates that role. */
interface DatabaseToPrepare {
  readonly name: string;
  readonly ownerUrl: string;
  readonly apiUrl: string;
  readonly createsRole: boolean;
}

/** A database that is ready for the API. */
export interface ReadyDatabase {
  readonly name: string;
  /** URL of the API's role. */
  readonly url: Secret;
}

/** Internal command that calls {@link prepareInProcess}. */
const PREPARE_COMMAND = 'prepare-database';

/**
 * Creates the API's role if it has to, and brings the schema of each up to date, in a process that ends afterwards: a
 * process that runs for days should not keep the memory that this takes. `self` starts `boxgate`. Throws DevError.
 */
async function prepareDatabases(
  self: readonly [string, ...string[]],
  databases: readonly DatabaseToPrepare[],
): Promise<void> {
  const [program, ...args] = self;
  const child = spawn(program, [...args, PREPARE_COMMAND], { env: {}, stdio: ['pipe', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  child.stdin.on('error', () => undefined);
  // Not as arguments: everybody on the machine can read those.
  child.stdin.end(JSON.stringify(databases));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new DevError(complaint.trim() || 'The database could not be prepared');
}

/** Reads the request and prepares the databases; prints a failure on standard error. Returns the exit code. */
export async function prepareInProcess(input: AsyncIterable<Buffer | string>): Promise<number> {
  const { ensureApiRole } = await import('../../api/db/core/api-role.ts');
  const { joinInstallation } = await import('../../api/db/core/installation.ts');
  const { migrate } = await import('../../api/db/core/migrate.ts');
  let text = '';
  for await (const piece of input) text += piece.toString();
  try {
    const databases = requestOf(parseJson(text));
    for (const { ownerUrl, apiUrl, createsRole } of databases) {
      const { username, password } = new URL(apiUrl);
      const role = decodeURIComponent(username);
      if (createsRole) await ensureApiRole(ownerUrl, role, decodeURIComponent(password));
      await migrate(ownerUrl, role);
    }
    if (databases.length > 1) await joinInstallation(databases);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n`);
    return 1;
  }
}

function requestOf(value: unknown): readonly DatabaseToPrepare[] {
  if (isList(value) && value.every(isToPrepare)) return value;
  throw new Error(`${PREPARE_COMMAND} is for boxgate dev alone`);
}

function isToPrepare(value: unknown): value is DatabaseToPrepare {
  if (!isObject(value) || typeof value['createsRole'] !== 'boolean') return false;
  return ['name', 'ownerUrl', 'apiUrl'].every((member) => typeof value[member] === 'string');
}

/**
 * The command that runs Boxgate, the owner's URL of the database (undefined: it is embedded), the URL of the API's role
 * there (undefined: the owner creates one), the file of several databases instead, and the state folder.
 */
interface DatabaseOptions {
  readonly self: readonly [string, ...string[]];
  readonly ownerUrl: string | undefined;
  readonly apiUrl: string | undefined;
  readonly file: string | undefined;
  readonly state: StateFolder;
}

/**
 * Opens the databases, ready for the API, home first: those of a file, or one, which is embedded unless an owner's URL
 * is given. Throws DevError.
 */
export async function openDatabases(
  { self, ownerUrl, apiUrl, file, state }: DatabaseOptions,
  output: DevOutput,
  stopAtEnd: StopAtEnd,
): Promise<readonly ReadyDatabase[]> {
  const given =
    file === undefined
      ? [{ name: 'home', ownerUrl: ownerUrl ?? (await embedded(state, output, stopAtEnd)), url: apiUrl }]
      : databasesIn(file);
  const isEmbedded = file === undefined && ownerUrl === undefined;
  const databases = given.map(({ name, ownerUrl: owner, url }) => ({
    ...{ name, ownerUrl: owner, createsRole: url === undefined },
    apiUrl: url ?? urlOf(owner, isEmbedded ? 'boxgate_api' : roleFor(owner), state.keys.apiPassword),
  }));
  await prepareDatabases(self, databases);
  return databases.map(({ name, apiUrl: url }) => ({ name, url: new Secret(url) }));
}

/** Reads a file of several databases. The error shows no value, because it may hold a password. Throws DevError. */
function databasesIn(file: string): readonly { name: string; ownerUrl: string; url: string | undefined }[] {
  let value: unknown;
  try {
    value = parse(readFileSync(file, 'utf8'), { prettyErrors: false });
  } catch (error) {
    throw new DevError(`${file} cannot be read: ${reasonOf(error)}`);
  }
  const list = isObject(value) ? value['databases'] : undefined;
  if (!isList(list) || list.length === 0) throw new DevError(`${file} has no list databases`);
  return list.map((entry: unknown, index) => {
    const { name, ownerUrl, url } = isObject(entry) ? entry : {};
    if (typeof name === 'string' && isUrl(ownerUrl) && (url === undefined || isUrl(url)))
      return { name, ownerUrl, url };
    const needed =
      'needs a name, and ownerUrl as postgres://owner:password@host:5432/database; url is the role of the API';
    throw new DevError(`${file}: databases[${String(index)}] ${needed}`);
  });
}

function isUrl(value: unknown): value is string {
  return typeof value === 'string' && isPostgresUrl(value);
}

async function embedded(state: StateFolder, output: DevOutput, stopAtEnd: StopAtEnd): Promise<string> {
  const options = { dataDir: state.data, password: state.keys.postgresPassword.reveal(), logFile: state.postgresLog };
  const first = await startEmbeddedPostgres(options).catch((cause: unknown) => {
    throw new DevError(cause instanceof Error ? cause.message : 'Postgres does not start', { cause });
  });
  const again = {
    name: 'Postgres',
    start: () => startEmbeddedPostgres({ ...options, port: first.port }),
    ending: () => `by itself (see ${state.postgresLog})`,
  };
  stopAtEnd('Postgres', keepRunning(first, again, output.note));
  return first.url;
}

/** Returns the role for a database: each has its own, because all databases of a server share the roles. */
function roleFor(ownerUrl: string): string {
  const { pathname, username } = new URL(ownerUrl);
  // libpq: without a name, the database is the user's.
  const database = decodeURIComponent(pathname.slice(1)) || decodeURIComponent(username);
  return Buffer.from(`boxgate_api_${database}`).subarray(0, 63).toString('utf8').replace(/�+$/, '');
}

function urlOf(ownerUrl: string, role: string, password: Secret): string {
  const url = new URL(ownerUrl);
  url.username = role;
  url.password = password.reveal();
  return url.href;
}
