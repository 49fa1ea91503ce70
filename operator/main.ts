import { complain } from '../process/complain.ts';
import { crashOnBugs } from '../process/crash-on-bugs.ts';
import type { Environment } from '../process/environment.ts';
import { createLog, flushLog, type Log } from '../process/log.ts';
import { stopSignal } from '../process/stop-signal.ts';
import { readKubeconfig, readOperatorConfig, type OperatorConfig } from './config.ts';
import { clusterConfig } from './kube/cluster-config.ts';
import { createConnection } from './kube/connection.ts';
import { createKubeApi } from './kube/kube-api.ts';
import { releaseAll } from './kube/release-all.ts';
import { serveOperator } from './serve.ts';
import { keepHeapSmall } from './small-heap.ts';

const usage = `Usage: boxgate operator                        keep the boxes of a cluster as they are declared
       boxgate operator --release-finalizers   take the finalizers off everything declared, before an uninstallation
Settings come from the environment; see docs/configuration.md.
`;

/** Runs the operator's program; resolves with its exit code: 0 stopped as asked, 1 it cannot go on, 2 usage. */
export async function main(args: readonly string[], environment: Environment): Promise<number> {
  const command = args.join(' ');
  try {
    if (command === 'operator') return await runOperator(environment);
    if (command === 'operator --release-finalizers') return await releaseFinalizers(environment);
  } catch (error) {
    complain(error);
    return 1;
  }
  process.stderr.write(usage);
  return 2;
}

/** Needs no API and no leader: only the cluster. */
async function releaseFinalizers(environment: Environment): Promise<number> {
  const kubeconfig = readKubeconfig(environment);
  const kube = createKubeApi(createConnection(() => clusterConfig(kubeconfig)));
  const released = await releaseAll(kube, new AbortController().signal);
  process.stdout.write(`released ${String(released)} objects\n`);
  return 0;
}

async function runOperator(environment: Environment): Promise<number> {
  keepHeapSmall();
  const config = readOperatorConfig(environment);
  const log = createLog(config.logLevel);
  crashOnBugs(log);
  try {
    await serveUntilStopped(config, log);
  } finally {
    // Also when it ends by itself: what it logged until then says more than the one sentence.
    await flushLog(log);
  }
  return 0;
}

/** Milliseconds from being asked to end until the end, whatever happens. */
const longestStop = 4_800;

async function serveUntilStopped(config: OperatorConfig, log: Log): Promise<void> {
  const stopped = stopSignal(config.parentPipe);
  const operator = await serveOperator(config, log);
  log.info({ port: operator.healthPort }, 'listening');
  try {
    await Promise.race([stopped, operator.failed]);
  } finally {
    log.info('stopping');
    // What hangs must not keep a process that others wait for.
    setTimeout(() => process.exit(1), longestStop).unref();
    await operator.stop();
    log.info('stopped');
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
