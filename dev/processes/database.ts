import { Secret } from '../../api/client/secret.ts';
import type { Cleanup } from '../keep-running.ts';
import { DevError } from '../options.ts';
import type { DevOutput } from '../output.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { keepRunning } from '../keep-running.ts';
import { prepareDatabase } from './prepare-database.ts';
import type { StateFolder } from './state-folder.ts';

/**
 * The command that runs Boxgate, the owner's URL of the database (undefined: it is embedded), the URL of the API's role
 * there (undefined: the owner creates one), and the state folder.
 */
export interface DatabaseOptions {
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
  closing: Cleanup,
): Promise<Secret> {
  const owner = ownerUrl ?? (await embedded(state, output, closing));
  const api =
    apiUrl ?? urlOf(owner, ownerUrl === undefined ? 'boxgate_api' : roleFor(ownerUrl), state.keys.apiPassword);
  await prepareDatabase(self, { ownerUrl: owner, apiUrl: api, createsRole: apiUrl === undefined });
  return new Secret(api);
}

async function embedded(state: StateFolder, output: DevOutput, closing: Cleanup): Promise<string> {
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
  closing.add('Postgres', stop);
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
