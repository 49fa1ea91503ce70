import { isObject, parseJson } from '../../crds/path.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DevError } from '../options.ts';
import { Secret } from '../../api/client/secret.ts';
import type { DevOutput } from '../output.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { keepRunning, type StopAtEnd } from '../keep-running.ts';
import type { StateFolder } from './state-folder.ts';

/** A database to prepare: the URLs of its owner and of the API's role, and whether the owner creates that role. */
export interface DatabaseToPrepare {
  readonly ownerUrl: string;
  readonly apiUrl: string;
  readonly createsRole: boolean;
}

/** Internal command that calls {@link prepareInProcess}. */
const PREPARE_COMMAND = 'prepare-database';

/**
 * Creates the API's role if it has to, and brings the schema up to date, in a process that ends afterwards: a process
 * that runs for days should not keep the memory that this takes. `self` starts `boxgate`. Throws DevError.
 */
async function prepareDatabase(self: readonly [string, ...string[]], database: DatabaseToPrepare): Promise<void> {
  const [program, ...args] = self;
  const child = spawn(program, [...args, PREPARE_COMMAND], { env: {}, stdio: ['pipe', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  child.stdin.on('error', () => undefined);
  // Not as arguments: everybody on the machine can read those.
  child.stdin.end(JSON.stringify(database));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new DevError(complaint.trim() || 'The database could not be prepared');
}

/** Reads the request and prepares the database; prints a failure on standard error. Returns the exit code. */
export async function prepareInProcess(input: AsyncIterable<Buffer | string>): Promise<number> {
  const { ensureApiRole } = await import('../../api/db/core/api-role.ts');
  const { migrate } = await import('../../api/db/core/migrate.ts');
  let text = '';
  for await (const piece of input) text += piece.toString();
  try {
    const { ownerUrl, apiUrl, createsRole } = requestOf(parseJson(text));
    const { username, password } = new URL(apiUrl);
    const role = decodeURIComponent(username);
    if (createsRole) await ensureApiRole(ownerUrl, role, decodeURIComponent(password));
    await migrate(ownerUrl, role);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n`);
    return 1;
  }
}

function requestOf(value: unknown): DatabaseToPrepare {
  if (isObject(value)) {
    const { ownerUrl, apiUrl, createsRole } = value;
    if (typeof ownerUrl === 'string' && typeof apiUrl === 'string' && typeof createsRole === 'boolean') {
      return { ownerUrl, apiUrl, createsRole };
    }
  }
  throw new Error(`${PREPARE_COMMAND} is for boxgate dev alone`);
}

/**
 * The command that runs Boxgate, the owner's URL of the database (undefined: it is embedded), the URL of the API's role
 * there (undefined: the owner creates one), and the state folder.
 */
interface DatabaseOptions {
  readonly self: readonly [string, ...string[]];
  readonly ownerUrl: string | undefined;
  readonly apiUrl: string | undefined;
  readonly state: StateFolder;
}

/**
 * Opens a database that is ready for the API, embedded unless an owner's URL is given; resolves with the URL of the
 * API's role. Throws DevError.
 */
export async function openDatabase(
  { self, ownerUrl, apiUrl, state }: DatabaseOptions,
  output: DevOutput,
  stopAtEnd: StopAtEnd,
): Promise<Secret> {
  const owner = ownerUrl ?? (await embedded(state, output, stopAtEnd));
  const api =
    apiUrl ?? urlOf(owner, ownerUrl === undefined ? 'boxgate_api' : roleFor(ownerUrl), state.keys.apiPassword);
  await prepareDatabase(self, { ownerUrl: owner, apiUrl: api, createsRole: apiUrl === undefined });
  return new Secret(api);
}

async function embedded(state: StateFolder, output: DevOutput, stopAtEnd: StopAtEnd): Promise<string> {
  const options = { dataDir: state.data, password: state.keys.postgresPassword.reveal(), logFile: state.postgresLog };
  const first = await startEmbeddedPostgres(options).catch((cause: unknown) => {
    throw new DevError(cause instanceof Error ? cause.message : 'Postgres does not start', { cause });
  });
  const stop = keepRunning(first, {
    start: () => startEmbeddedPostgres({ ...options, port: first.port }),
    onEnd: () => output.note(`Postgres has ended by itself (see ${state.postgresLog}); starting it again`),
    onFailure: (error) => output.note(error instanceof Error ? error.message : 'Postgres does not start'),
    onRestart: () => output.note('Postgres is back.'),
    random: Math.random,
  });
  stopAtEnd('Postgres', stop);
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
