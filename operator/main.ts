import type { Environment } from '../program/environment.ts';
import type { Log } from '../program/log.ts';
import { runCommand, serveWithLog } from '../program/program.ts';
import { stopSignal } from '../program/signals.ts';
import { readWithUnknown, unknownSettings } from '../program/unknown-settings.ts';
import {
  type ClusterAccess,
  type OperatorConfig,
  readClusterAccess,
  readOperatorConfig,
  readUninstallConfig,
} from './config.ts';
import { clusterConfig, createConnection } from './kube/client/cluster-config.ts';
import { createKubeApi, type KubeApi } from './kube/client/kube-api.ts';
import { endOperators, releaseAll } from './kube/source/uninstall.ts';
import { serveOperator } from './serve.ts';

const usage = `Usage: boxgate operator                        keep the boxes of a cluster as they are declared
       boxgate operator --release-finalizers   take the finalizers off everything declared, before an uninstallation
       boxgate operator --end-and-release-finalizers   the same, after ending the Deployment boxgate-operator
Settings come from the environment; see docs/reference/configuration.md.
`;

/** Runs the operator's program; resolves with its exit code: 0 stopped as requested, 1 it cannot continue, 2 usage. */
export function main(args: readonly string[], environment: Environment): Promise<number> {
  const commands = new Map([
    ['operator', () => runOperator(environment)],
    ['operator --release-finalizers', () => releaseFinalizers(environment)],
    ['operator --end-and-release-finalizers', () => endAndRelease(environment)],
  ]);
  return runCommand(args, usage, commands);
}

/** Removes all our finalizers; needs only the cluster, neither the API nor a leader. Returns 1 if one stays. */
async function releaseFinalizers(environment: Environment): Promise<number> {
  return release(clusterApi(readClusterAccess(environment)));
}

/** Scales the Deployment of the operator to zero and waits until nobody leads; then removes all our finalizers. */
async function endAndRelease(environment: Environment): Promise<number> {
  const { access, namespace } = readUninstallConfig(environment);
  const kube = clusterApi(access);
  await endOperators(kube, namespace, new AbortController().signal);
  return release(kube);
}

function clusterApi(access: ClusterAccess): KubeApi {
  return createKubeApi(createConnection(() => clusterConfig(access)));
}

async function release(kube: KubeApi): Promise<number> {
  const { count, refusals } = await releaseAll(kube, new AbortController().signal);
  process.stdout.write(`released ${String(count)} ${count === 1 ? 'object' : 'objects'}\n`);
  for (const refusal of refusals) process.stderr.write(`boxgate: ${refusal}\n`);
  return refusals.length === 0 ? 0 : 1;
}

async function runOperator(environment: Environment): Promise<number> {
  const unknown = unknownSettings(environment);
  const config = readWithUnknown(unknown, () => readOperatorConfig(environment));
  return serveWithLog(config.logLevel, unknown, (log) => serveUntilStopped(config, log));
}

/** Milliseconds from the request to stop until the process ends, whatever happens. */
const longestStop = 4_800;

async function serveUntilStopped(config: OperatorConfig, log: Log): Promise<void> {
  const stopped = stopSignal(config.parentPipe);
  const operator = await serveOperator(config, log);
  log.info({ port: operator.healthPort }, 'listening');
  try {
    await Promise.race([stopped, operator.failed]);
  } finally {
    log.info('stopping');
    // Neither hanging work nor, after it, a write without an answer must keep alive a process that others wait for.
    setTimeout(() => process.exit(process.exitCode ?? 1), longestStop).unref();
    await operator.stop();
    log.info('stopped');
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
