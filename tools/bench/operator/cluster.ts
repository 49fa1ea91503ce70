import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Environment } from '../../../process/environment.ts';
import { startControlPlane, type ControlPlane } from '../../envtest/control-plane.ts';
import { installCrds } from '../../envtest/install-crds.ts';
import { bindSecrets, installOperator } from '../../../test/operator/install-operator.ts';
import { startApiProcess, type ApiProcess } from '../../../test/support/api-process.ts';
import { startOperatorProcess, type OperatorProcess } from '../../../test/support/operator-process.ts';
import { unthrottled } from '../../../test/support/unthrottled.ts';
import { makeDatabase } from '../machine/database.ts';
import type { BenchPostgres } from '../machine/postgres.ts';
import { atOnce, upTo } from './at-once.ts';
import { installBareKinds } from './bare-kinds.ts';

/** Folder in which the command caches compiled code (dev/boxgate.cjs). */
const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/boxgate', import.meta.url));

/**
 * Environment of one row: an empty cluster with our kinds and the operator's rights, and an API on an empty database.
 */
export interface BenchCluster {
  readonly plane: ControlPlane;
  readonly api: ApiProcess;
  /** Runs one statement in the API's database, as the superuser, over one connection that stays open. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Starts `boxgate operator`; it ends with this cluster. */
  operator(environment?: Environment): Promise<OperatorProcess>;
  /** New namespaces in which the operator may hold Secrets. */
  boxes(count: number): Promise<readonly string[]>;
  /** Returns the last log lines of the operators and the API. */
  said(): string;
  stop(): Promise<void>;
}

/** Options of the cluster of a row. */
export interface ClusterOptions {
  readonly postgres: BenchPostgres;
  /** Added to the flags of kube-apiserver. */
  readonly flags?: readonly string[];
  /** Folder for a CPU profile of each operator. */
  readonly profile?: string | undefined;
}

/** Starts everything but the operator, does work on it, and stops it. */
export async function onCluster<T>(options: ClusterOptions, work: (cluster: BenchCluster) => Promise<T>): Promise<T> {
  const cluster = await startCluster(options);
  try {
    return await work(cluster);
  } finally {
    await cluster.stop();
  }
}

async function startCluster({ postgres, flags = [], profile }: ClusterOptions): Promise<BenchCluster> {
  const database = `operator_${randomBytes(4).toString('hex')}`;
  const [plane, urls] = await Promise.all([startControlPlane(flags), makeDatabase(postgres, database)]);
  await installCrds(plane);
  await installBareKinds(plane);
  const { access } = await installOperator(plane);
  const api = await startApiProcess(urls.BOXGATE_DATABASE_URL, unthrottled);
  const client = new pg.Client({ connectionString: urls.BOXGATE_OWNER_URL });
  await client.connect();
  const operators: OperatorProcess[] = [];
  return {
    plane,
    api,
    async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      return (await client.query<Row>(text, values)).rows;
    },
    async operator(environment = {}) {
      const started = await startOperatorProcess(
        { access, api },
        { NODE_COMPILE_CACHE: compileCache, ...profiling(profile), ...environment },
      );
      operators.push(started);
      return started;
    },
    async boxes(count) {
      const names: string[] = [];
      await atOnce(8, upTo(count), async () => {
        const name = await plane.namespace('bench');
        await bindSecrets(plane, name);
        names.push(name);
      });
      return names;
    },
    said: () => [...operators, api].flatMap(({ lines }) => lines.slice(-20)).join('\n'),
    async stop() {
      await Promise.all(operators.map((operator) => operator.end('SIGTERM')));
      await api.end('SIGTERM');
      await client.end();
      await plane.stop();
    },
  };
}

/** Node writes the profile when the operator ends. */
function profiling(folder: string | undefined): Environment {
  return folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` };
}
