import { readApiConfig, readMigrateConfig } from './config.ts';
import type { ApiConfig } from './config.ts';
import { migrate } from './db/migrate.ts';
import { ConfigError } from './environment.ts';
import type { Environment } from './environment.ts';
import { createLog, errorFacts, flushLog } from './log.ts';
import type { Log } from './log.ts';
import { onParentGone } from './parent-pipe.ts';
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

function complain(error: unknown): void {
  const sentences = error instanceof ConfigError ? error.mistakes : [sentenceOf(error)];
  for (const sentence of sentences) process.stderr.write(`boxgate: ${sentence}\n`);
}

/** What failed, and why: `Postgres cannot answer now: connect ECONNREFUSED 127.0.0.1:5432`. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  // Several addresses of one host have a message each, and no common one.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const message = error.message === '' && first !== undefined ? sentenceOf(first) : error.message;
  if (error.cause === undefined) return message;
  const cause = sentenceOf(error.cause);
  return message.includes(cause) ? message : `${message}: ${cause}`;
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

/** Resolves when the process is to end; it may be told so while it still starts. Throws when the pipe cannot be watched. */
function stopSignal(parentPipe: number | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (parentPipe !== undefined) onParentGone(parentPipe, resolve);
  process.once('SIGTERM', resolve);
  process.once('SIGINT', resolve);
  return promise;
}

/** A promise nobody waits for is a bug: better a new process than an unknown state. */
function crashOnBugs(log: Log): void {
  const crash = (error: unknown): void => {
    log.fatal(errorFacts(error), 'bug');
    void flushLog(log).then(() => process.exit(1));
  };
  process.once('uncaughtException', crash);
  process.once('unhandledRejection', crash);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
