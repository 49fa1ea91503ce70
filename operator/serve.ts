import { createSecretKey, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createManagement } from '../api/client/management.ts';
import { errorFacts, type Log } from '../process/log.ts';
import { defaultBackOff, waitAfter } from './back-off.ts';
import type { OperatorConfig } from './config.ts';
import { startElection, type Election } from './election.ts';
import { clusterConfig } from './kube/cluster-config.ts';
import { readClusterId } from './kube/cluster-id.ts';
import { createClusterSource } from './kube/cluster-source.ts';
import { createConnection, type Connection } from './kube/connection.ts';
import { createKubeApi, type KubeApi } from './kube/kube-api.ts';
import { createLeaseStore } from './kube/lease-store.ts';
import { defaultTimes } from './kube/list-watch.ts';
import { callsOfLeader, writesOfLeader } from './leader-writes.ts';
import { startReconciler, type Reconciler } from './reconciler.ts';
import type { ResolvedSecret } from './resolve-secret.ts';
import type { SecretKeeper } from './secret-keeper.ts';

/** A running operator. */
export interface RunningOperator {
  readonly healthPort: number;
  /** Rejects when it cannot go on: it does not lead any more (LeadershipLost, ManagementError `fenced`). */
  readonly failed: Promise<never>;
  /** Ends what is under way, and lets another replica lead. */
  stop(): Promise<void>;
}

/** Milliseconds in which the passes that run may end when the operator stops. */
const grace = 2_500;

/**
 * Starts the operator. What is away at its start (the API server, the API) is waited for, and so is the Lease. Throws an
 * Error when it is told of no cluster.
 */
export async function serveOperator(config: OperatorConfig, log: Log): Promise<RunningOperator> {
  // Without a cluster there is nothing to wait for.
  clusterConfig(config.kubeconfig);
  const connection = createConnection(() => clusterConfig(config.kubeconfig));
  const stopping = new AbortController();
  const election = elect(config, connection, log);
  const kube = createKubeApi(connection);
  let reconciler: Reconciler | undefined;

  async function lead(): Promise<never> {
    const { signal } = stopping;
    const cluster = config.clusterId ?? (await patiently(() => readClusterId(kube, signal), log, signal));
    await election.won;
    signal.throwIfAborted();
    log.info({ cluster }, 'this replica leads');
    reconciler = reconcile(config, writesOfLeader(kube, election.leads), election, cluster, log);
    return reconciler.failed;
  }

  const failed = Promise.race([lead(), election.lost]);
  // Nobody may be listening yet.
  failed.catch(() => undefined);
  return {
    healthPort: 0,
    failed,
    async stop() {
      stopping.abort(new Error('the operator is stopping'));
      await reconciler?.stop(election.leads() ? grace : 0);
      await election.release();
    },
  };
}

function elect(config: OperatorConfig, connection: Connection, log: Log): Election {
  const { namespace, leaseName: name, leaseSeconds: seconds, podUid } = config;
  const duration = seconds * 1000;
  // An answer that comes later than that leaves no time for another try.
  const api = createKubeApi(connection, duration / 3);
  return startElection({
    store: createLeaseStore(api, { namespace, name, seconds }, () => new Date()),
    identity: `${podUid ?? hostname()}_${randomUUID()}`,
    pod: podUid,
    duration,
    now: () => performance.now(),
    random: Math.random,
    schedule: after,
    onFailure: (error) => log.warn(errorFacts(error), 'the Lease'),
  });
}

function after(wait: number, callback: () => void): () => void {
  const timer = setTimeout(callback, wait);
  return () => clearTimeout(timer);
}

function reconcile(config: OperatorConfig, kube: KubeApi, election: Election, cluster: string, log: Log): Reconciler {
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
    management: callsOfLeader(
      createManagement({ url: config.managementUrl, key: config.managementKey }),
      election.leads,
    ),
    digestKey: createSecretKey(config.digestKey.reveal(), 'base64'),
    defaultIssuer: (box) => `${config.publicUrl}/boxes/${box}`,
    now: () => new Date(),
    random: Math.random,
    schedule: after,
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
