import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { findGateway, librariesOf, pooler } from '../../tools/needs/gateways.ts';
import { startChild, untilReady } from './child-program.ts';
import { ownPort } from './own-port.ts';

/** A running PgBouncer in front of a database. */
export interface RunningPooler {
  /** URL of the database behind it. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts PgBouncer in transaction mode on a loopback port, in front of the database of a URL. It has two connections to
 * Postgres, which transactions take in turn, and keeps no prepared statements. Throws if the program is missing.
 */
export async function startPooler(databaseUrl: string): Promise<RunningPooler> {
  const program = findGateway(pooler, process.env);
  if (program === undefined) throw new Error(`no PgBouncer: run make needs, or name one with ${pooler.variable}`);
  const env = { LD_LIBRARY_PATH: librariesOf(pooler, process.env) };
  const port = await ownPort();
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-pooler-'));
  const file = path.join(folder, 'pgbouncer.ini');
  writeFileSync(file, configuration(new URL(databaseUrl), port, optionsOf(program, env)));
  const child = startChild(program, [file], { env });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${String(port)}`;
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(folder, { recursive: true });
  };
  try {
    await untilReady(child, 'PgBouncer', () => answers(url.href));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: url.href, stop };
}

function configuration({ hostname, port, pathname, username, password }: URL, own: number, options: string): string {
  const name = pathname.slice(1);
  return `[databases]
${name} = host=${hostname} port=${port} dbname=${name} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(own)}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
min_pool_size = 2
server_round_robin = 1
ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout
${options}
`;
}

/** Returns the settings that depend on the version and on the account: PgBouncer refuses to run as root. */
function optionsOf(program: string, env: Readonly<Record<string, string>>): string {
  const [, minor] = /PgBouncer 1\.(\d+)/.exec(execFileSync(program, ['--version'], { env, encoding: 'utf8' })) ?? [];
  const user = process.getuid?.() === 0 ? ['user = nobody'] : [];
  return [...user, ...(Number(minor) >= 21 ? ['max_prepared_statements = 0'] : [])].join('\n');
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}
