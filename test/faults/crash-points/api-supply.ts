import { startApiProcess, type ApiProcess } from '../../support/api-process.ts';
import { asOwner, type TestDatabase } from '../../support/postgres.ts';
import { startPostgresWrites } from './postgres-writes.ts';
import { startRestarted, type Restarted, type Started } from './restarted.ts';
import type { Write, WriteLog } from './write-log.ts';

/** The API on a database, as a process that a write log's plan may end. */
export type RestartedApi = Restarted<ApiProcess>;

/** One key, so that who calls need not know which process it is. */
export const managementKey = 'key-of-the-crash-points';

/**
 * Starts it; every process reaches Postgres through a proxy of its own, which shows the log the writes that are
 * counted.
 */
export async function startRestartedApi(
  database: TestDatabase,
  log: WriteLog,
  isCounted: (write: Write) => boolean = () => true,
): Promise<RestartedApi> {
  const writers = await writingFunctions(database);
  const counted: Pick<WriteLog, 'meet'> = { meet: (write) => (isCounted(write) ? log.meet(write) : undefined) };
  return startRestarted({ name: 'API', start: () => start(database, counted, writers) });
}

async function start(
  database: TestDatabase,
  log: Pick<WriteLog, 'meet'>,
  writers: ReadonlySet<string>,
): Promise<Started<ApiProcess>> {
  let isCrashed = false;
  const crash = (): void => {
    isCrashed = true;
    process.kill(api.pid, 'SIGKILL');
  };
  const url = new URL(database.apiUrl);
  const proxy = await startPostgresWrites({ target: Number(url.port), log, writers, crash });
  url.port = String(proxy.port);
  const api = await startApiProcess(url.href, {
    BOXGATE_MANAGEMENT_KEYS: managementKey,
    BOXGATE_FAILURES_PER_CLIENT: '1000000',
    BOXGATE_FAILURES_PER_BOX: '1000000',
  });
  return {
    process: api,
    isCrashed: () => isCrashed,
    async end() {
      await api.end('SIGKILL');
      await proxy.close();
    },
  };
}

/** Functions that Postgres itself says may write. */
async function writingFunctions(database: TestDatabase): Promise<ReadonlySet<string>> {
  const { rows } = await asOwner(new URL(database.ownerUrl).pathname.slice(1), (owner) =>
    owner.query<{ proname: string }>(
      "SELECT proname FROM pg_proc WHERE pronamespace = 'boxgate'::regnamespace AND provolatile = 'v'",
    ),
  );
  return new Set(rows.map(({ proname }) => proname));
}
