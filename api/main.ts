import { readApiConfig, readMigrateConfig, readResetAdminConfig } from './config.ts';
import type { ApiConfig, MigrateConfig, MigratedDatabase } from './config.ts';
import { ensureApiRole } from './db/core/api-role.ts';
import { joinInstallation, rebuildDirectory } from './db/core/installation.ts';
import { migrate } from './db/core/migrate.ts';
import { isCausedByOutage } from './db/core/outage.ts';
import type { Environment } from '../program/environment.ts';
import type { Log } from '../program/log.ts';
import { runCommand, serveWithLog } from '../program/program.ts';
import { stopSignal } from '../program/signals.ts';
import { readWithUnknown, unknownSettings } from '../program/unknown-settings.ts';
import { runResetAdmin } from './reset-admin-command.ts';
import { serveApi } from './serve.ts';
import { retryWhileUnreachable } from './wait-for-database.ts';

const usage = `Usage: boxgate api                         serve the boxes of a database
       boxgate migrate                     bring a database to this release's schema, as its owner
       boxgate migrate --rebuild-directory the same, and enters the boxes of all databases in a home database that was restored
       boxgate admin reset <box> <email>   give an administrator a new password, which is read from standard input
Settings come from the environment; see docs/reference/configuration.md.
`;

/** Runs one command of the API's program; resolves with its exit code: 0 done, 1 refused, 2 usage. */
export function main(args: readonly string[], environment: Environment): Promise<number> {
  const commands = new Map([
    ['api', () => runApi(environment)],
    ['migrate', () => runMigrate(environment)],
    ['migrate --rebuild-directory', () => runRebuild(environment)],
  ]);
  const [group, verb, box, email, ...more] = args;
  if (group === 'admin' && verb === 'reset' && box !== undefined && email !== undefined && more.length === 0)
    commands.set(args.join(' '), () => runReset(box, email, environment));
  return runCommand(args, usage, commands);
}

async function runMigrate(environment: Environment): Promise<number> {
  const unknown = unknownSettings(environment);
  const config = readWithUnknown(unknown, () => readMigrateConfig(environment));
  for (const sentence of unknown) process.stderr.write(`boxgate: ${sentence}\n`);
  const deadline = performance.now() + config.databaseWaitSeconds * 1_000;
  const failures = await migrateAll(config, deadline);
  if (failures.length > 0) throw new Error(failures.join('\n'));
  return 0;
}

/** Migrates and enters each database, whatever becomes of the others; returns a sentence for each that failed. */
async function migrateAll({ databases, leaveNewer }: MigrateConfig, deadline: number): Promise<readonly string[]> {
  const failures: string[] = [];
  const migrated: MigratedDatabase[] = [];
  const [home] = databases;
  for (const database of databases) {
    const { name, ownerUrl, apiRole, apiPassword } = database;
    const of = databases.length === 1 ? '' : ` ${name}`;
    const work = async () => {
      if (apiPassword !== undefined) await ensureApiRole(ownerUrl, apiRole, apiPassword.reveal());
      return migrate(ownerUrl, apiRole, leaveNewer);
    };
    try {
      const { applied, schema } = await retryWhileUnreachable(work, {
        // A new installation starts everything at once.
        reasonOf: (error) => (isCausedByOutage(error) && performance.now() < deadline ? error.message : undefined),
        onReason: (reason) => void process.stderr.write(`boxgate: waiting for the database${of}: ${reason}\n`),
        pause: () => 1_000,
      });
      const done = applied.length === 0 ? 'nothing to do' : `applied ${applied.join(', ')}`;
      process.stdout.write(`schema ${String(schema)}${of}: ${done}\n`);
      migrated.push(database);
      if (migrated.includes(home)) await joinInstallation(database === home ? [home] : [home, database]);
    } catch (error) {
      if (databases.length === 1) throw error;
      failures.push(`database ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failures;
}

async function runRebuild(environment: Environment): Promise<number> {
  const done = await runMigrate(environment);
  const { databases } = readMigrateConfig(environment);
  const boxes = await rebuildDirectory(databases);
  process.stdout.write(`entered ${String(boxes)} boxes of the other databases in ${databases[0].name}\n`);
  return done;
}

async function runReset(box: string, email: string, environment: Environment): Promise<number> {
  const done = await runResetAdmin(readResetAdminConfig(environment), box, email, process.stdin);
  process.stdout.write(`${done}\n`);
  return 0;
}

async function runApi(environment: Environment): Promise<number> {
  const unknown = unknownSettings(environment);
  const config = readWithUnknown(unknown, () => readApiConfig(environment));
  return serveWithLog(config.logLevel, unknown, (log) => serveUntilStopped(config, log));
}

async function serveUntilStopped(config: ApiConfig, log: Log): Promise<void> {
  const stopped = stopSignal(config.parentPipe);
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort(new Error('the program was asked to stop')));
  const api = await serveApi(config, log, { signal: stopping.signal }).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  // It was asked to stop before it could serve.
  if (api === undefined) return;
  log.info({ port: api.port, management_port: api.managementPort }, 'listening');
  await stopped;
  log.info('stopping');
  await api.stop();
  log.info('stopped');
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
