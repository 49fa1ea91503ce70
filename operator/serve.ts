import { createSecretKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createManagement } from '../api/client/management.ts';
import { errorFacts, type Log } from '../process/log.ts';
import { defaultBackOff, waitAfter } from './back-off.ts';
import type { OperatorConfig } from './config.ts';
import { clusterConfig } from './kube/cluster-config.ts';
import { readClusterId } from './kube/cluster-id.ts';
import { createClusterSource } from './kube/cluster-source.ts';
import { createConnection } from './kube/connection.ts';
import { createKubeApi, type KubeApi } from './kube/kube-api.ts';
import { defaultTimes } from './kube/list-watch.ts';
import { startReconciler, type Reconciler } from './reconciler.ts';
import type { ResolvedSecret } from './resolve-secret.ts';
import type { SecretKeeper } from './secret-keeper.ts';

/** A running operator. */
export interface RunningOperator {
  readonly healthPort: number;
  /** Rejects when it cannot go on: somebody else leads. */
  readonly failed: Promise<never>;
  /** Ends what is under way. */
  stop(): Promise<void>;
}

/** Starts the operator. What is away at its start (the API server, the API) is waited for. */
export async function serveOperator(config: OperatorConfig, log: Log): Promise<RunningOperator> {
  const connection = createConnection(() => clusterConfig(config.kubeconfig));
  const stopping = new AbortController();
  const kube = createKubeApi(connection);
  let reconciler: Reconciler | undefined;
  const failed = lead();
  // Nobody may be listening yet.
  failed.catch(() => undefined);

  async function lead(): Promise<never> {
    const { signal } = stopping;
    const cluster = config.clusterId ?? (await patiently(() => readClusterId(kube, signal), log, signal));
    reconciler = reconcile(config, kube, cluster, log);
    return reconciler.failed;
  }

  return {
    healthPort: 0,
    failed,
    async stop() {
      stopping.abort(new Error('the operator is stopping'));
      await reconciler?.stop();
    },
  };
}

function reconcile(config: OperatorConfig, kube: KubeApi, cluster: string, log: Log): Reconciler {
  const source = createClusterSource({
    api: kube,
    times: { ...defaultTimes, relistPeriod: config.relistSeconds * 1000 },
    random: Math.random,
    now: () => performance.now(),
    sleep: (wait, signal) => sleep(wait, undefined, { signal }).catch(() => undefined),
    onFailure: (error, wait) => log.warn({ ...errorFacts(error), wait }, 'the API server'),
    ownNamespace: config.namespace,
  });
  return startReconciler({
    source,
    keeper: noSecrets,
    events: { record: ({ object, type, reason, message }) => log.info({ object, type, reason, message }, 'event') },
    cluster,
    sweepPeriod: config.sweepSeconds * 1000,
    holdLimit: config.holdSeconds * 1000,
    usagePeriod: config.usageSeconds * 1000,
    management: createManagement({ url: config.managementUrl, key: config.managementKey }),
    digestKey: createSecretKey(config.digestKey.reveal(), 'base64'),
    defaultIssuer: (box) => `${config.publicUrl}/boxes/${box}`,
    now: () => new Date(),
    random: Math.random,
    schedule(wait, callback) {
      const timer = setTimeout(callback, wait);
      return () => clearTimeout(timer);
    },
    onProgress: () => undefined,
    onFailure: (box, error, wait) => log.warn({ box, wait, ...errorFacts(error) }, 'a pass failed'),
  });
}

/** Until a keeper over Secrets stands here, a client that is to have a generated secret waits. */
const noSecrets: SecretKeeper = {
  async keep(_box, wishes) {
    const reason = 'SecretNotFound';
    const none = (secret: string): ResolvedSecret => ({
      state: 'missing',
      reason,
      message: `Secret ${secret} is still to be made`,
    });
    return new Map(wishes.map(({ client, secret }) => [client, none(secret)]));
  },
  names: () => Promise.resolve([]),
  release: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};

/** Tries again, with longer and longer waits, until it works or is to stop. */
async function patiently<T>(work: () => Promise<T>, log: Log, signal: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const wait = waitAfter(failures, defaultBackOff, Math.random);
      log.warn({ ...errorFacts(error), wait }, 'cannot begin');
      await sleep(wait, undefined, { signal });
    }
  }
}
