import { complain } from '../process/complain.ts';
import { crashOnBugs } from '../process/crash-on-bugs.ts';
import { readApiConfig, readMigrateConfig } from './config.ts';
import type { ApiConfig } from './config.ts';
import { migrate } from './db/migrate.ts';
import type { Environment } from '../process/environment.ts';
import { createLog, flushLog } from '../process/log.ts';
import type { Log } from '../process/log.ts';
import { stopSignal } from '../process/stop-signal.ts';
import { serveApi } from './serve.ts';

const usage = `Usage: boxgate api       serve the boxes of a database
       boxgate migrate   bring a database to this release's schema, as its owner
Settings come from the environment; see docs/configuration.md.
`;

/** Runs one command of the API's program; resolves with its exit code: 0 done, 1 refused, 2 usage. */
export async function main(args: readonly string[], environment: Environment): Promise<number> {
  const [command = ''] = args;
  try {
    if (command === 'api' && args.length === 1) return await runApi(environment);
    if (command === 'migrate' && args.length === 1) return await runMigrate(environment);
  } catch (error) {
    complain(error);
    return 1;
  }
  const asked = /^(-h|--help|help)$/.test(command);
  (asked ? process.stdout : process.stderr).write(usage);
  return asked ? 0 : 2;
}

async function runMigrate(environment: Environment): Promise<number> {
  const { ownerUrl, apiRole } = readMigrateConfig(environment);
  const { applied, schema } = await migrate(ownerUrl, apiRole);
  const done = applied.length === 0 ? 'nothing to do' : `applied ${applied.join(', ')}`;
  process.stdout.write(`schema ${String(schema)}: ${done}\n`);
  return 0;
}

async function runApi(environment: Environment): Promise<number> {
  const config = readApiConfig(environment);
  const log = createLog(config.logLevel);
  crashOnBugs(log);
  try {
    await serveUntilStopped(config, log);
  } finally {
    // Also when it could not start: what it logged until then says more than the one sentence.
    await flushLog(log);
  }
  return 0;
}

async function serveUntilStopped(config: ApiConfig, log: Log): Promise<void> {
  const stopped = stopSignal(config.parentPipe);
  const api = await serveApi(config, log);
  log.info({ port: api.port, management_port: api.managementPort }, 'listening');
  await stopped;
  log.info('stopping');
  await api.stop();
  log.info('stopped');
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
