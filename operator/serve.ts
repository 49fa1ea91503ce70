import { createSecretKey, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createManagement } from '../api/client/management.ts';
import { errorFacts, type Log } from '../process/log.ts';
import { giveBackMemory } from '../process/small-heap.ts';
import { schedule } from '../process/schedule.ts';
import { defaultBackOff, waitAfter } from './reconcile/back-off.ts';
import type { OperatorConfig } from './config.ts';
import { startElection, type Election } from './leader/election.ts';
import { startHealthServer } from './health-server.ts';
import { readClusterId } from './kube/source/cluster-id.ts';
import { createClusterSecrets } from './kube/secrets/cluster-secrets.ts';
import { createClusterSource } from './kube/source/cluster-source.ts';
import { clusterConfig, createConnection, type Connection } from './kube/client/cluster-config.ts';
import { followDefinitions, type InstalledDefinitions } from './kube/source/installed-definitions.ts';
import { skewLines } from './installed-fields.ts';
import { createEventRecorder } from './kube/source/event-recorder.ts';
import { createKubeApi, type KubeApi, type KubeCall } from './kube/client/kube-api.ts';
import { KubeError } from './kube/client/kube-error.ts';
import { createLeaseStore } from './kube/client/lease-store.ts';
import { defaultTimes } from './kube/client/list-watch.ts';
import type { SecretWatchOptions } from './kube/secrets/watches.ts';
import { callsOfLeader, writesOfLeader } from './leader/leader-writes.ts';
import { tellInstallation } from './kube/source/installation-event.ts';
import { readServiceAccountKeys } from './kube/source/service-account-keys.ts';
import { REVIEWS } from './kube/client/rights.ts';
import { createBoxServices } from './kube/services/box-services.ts';
import { inClusterAddresses } from './desired/addresses.ts';
import { createManagementAuthority } from './management-authority.ts';
import { createOperatorMetrics, type OperatorMetrics } from './metrics.ts';
import { startReconciler, type Reconciler } from './reconcile/reconciler.ts';
import { followRights, lacking } from './kube/source/follow-rights.ts';
import { createSleeper, type Sleeper } from './sleeper.ts';

/** A running operator. */
export interface RunningOperator {
  readonly healthPort: number;
  /** Rejects when it cannot continue: it no longer leads (LeadershipLost, ManagementError `fenced`). */
  readonly failed: Promise<never>;
  /** Ends running work, and lets another replica lead. */
  stop(): Promise<void>;
}

/** Milliseconds in which running passes may end when the operator stops. */
const grace = 2_500;

/**
 * Starts the operator. It waits for services that are away at its start (the API server, the API), and for the Lease.
 * Throws an Error if the kubeconfig file cannot be read.
 */
export async function serveOperator(config: OperatorConfig, log: Log): Promise<RunningOperator> {
  // Without a readable configuration there is nothing to wait for.
  clusterConfig(config.access);
  const connection = createConnection(() => clusterConfig(config.access));
  const stopping = new AbortController();
  const identity = `${config.podUid ?? hostname()}_${randomUUID()}`;
  const metrics = createOperatorMetrics(
    () => election.leads(),
    () => performance.now(),
  );
  const count = (call: KubeCall, status: number): void => metrics.answered(verbOf(call), status);
  const election = elect(config, identity, leaseApi(config, connection, count), log);
  const kube = createKubeApi(connection, { onAnswer: count });
  const sleeper = createSleeper();
  const definitions = followOwnDefinitions(kube, sleeper, log, stopping.signal);
  metrics.followDefinitions(definitions.kinds);
  const health = await startHealthServer({
    ...config,
    port: config.healthPort,
    metrics,
    remarks: () => skewLines(definitions.kinds()),
    notReady() {
      if (stopping.signal.aborted) return 'the operator is stopping';
      if (!election.isInformed()) return 'the Lease cannot be read: who leads is not known';
      return rights.missing().length === 0 ? undefined : lacking(rights.missing());
    },
  });
  let reconciler: Reconciler | undefined;
  const onReturn = (): void => {
    sleeper.wake();
    reconciler?.retry();
  };
  const rights = followRights({ ...config, kube, instance: identity, schedule, log, onReturn }, stopping.signal);
  metrics.followRights(() => rights.missing());

  async function lead(): Promise<never> {
    const { signal } = stopping;
    const cluster = config.clusterId ?? (await patiently(() => readClusterId(kube, signal), log, sleeper, signal));
    await election.won;
    signal.throwIfAborted();
    log.info({ cluster }, 'this replica leads');
    const leader = {
      config,
      kube: writesOfLeader(kube, election.leads),
      leads: election.leads,
      cluster,
      identity,
      metrics,
      log,
      sleeper,
      definitions,
    };
    reconciler = reconcile(leader, signal);
    // Everything was read, validated and compared at once: most of that memory is not needed again.
    void reconciler.firstRound.then(giveBackMemory);
    return reconciler.failed;
  }

  const failed = Promise.race([lead(), election.lost]);
  // There may be no listener yet.
  failed.catch(() => undefined);
  return {
    healthPort: health.port,
    failed,
    async stop() {
      stopping.abort(new Error('the operator is stopping'));
      try {
        await reconciler?.stop(election.leads() ? grace : 0);
        await election.release();
      } finally {
        await health.stop();
      }
    },
  };
}

/** Follows the definitions in every replica: probes ask each of them. */
function followOwnDefinitions(api: KubeApi, { sleep }: Sleeper, log: Log, signal: AbortSignal): InstalledDefinitions {
  const onFailure = (error: unknown): void => log.warn(errorFacts(error), 'the definitions of custom resources');
  const definitions = followDefinitions({ api, sleep, onFailure }, signal);
  definitions.onChange(() => {
    const skew = skewLines(definitions.kinds());
    if (skew.length > 0) log.warn({ skew }, 'the definitions of custom resources are of another release');
  });
  return definitions;
}

/** Returns the verb of a request; `REVIEW`: a POST that checks rights and stores nothing. */
function verbOf({ method = 'GET', path, query }: KubeCall): string {
  if (path.startsWith(REVIEWS)) return 'REVIEW';
  return query?.['watch'] === 'true' ? 'WATCH' : method;
}

/** Creates the API for the Lease: a later answer leaves no time for another try over another connection. */
function leaseApi(
  { leaseSeconds }: OperatorConfig,
  connection: Connection,
  count: (call: KubeCall, status: number) => void,
): KubeApi {
  return createKubeApi(connection, { timeout: (leaseSeconds * 1000) / 4, onAnswer: count });
}

function elect(config: OperatorConfig, identity: string, api: KubeApi, log: Log): Election {
  const { namespace, leaseName: name, leaseSeconds: seconds, podUid } = config;
  const duration = seconds * 1000;
  return startElection({
    store: createLeaseStore(api, { namespace, name, seconds }, () => new Date()),
    identity,
    pod: podUid,
    duration,
    now: () => performance.now(),
    random: Math.random,
    schedule,
    onFailure: (error) => log.warn(errorFacts(error), 'the Lease'),
  });
}

/** Dependencies of the leader. */
interface Leader {
  readonly config: OperatorConfig;
  readonly kube: KubeApi;
  readonly leads: () => boolean;
  readonly cluster: string;
  readonly identity: string;
  readonly metrics: OperatorMetrics;
  readonly log: Log;
  readonly sleeper: Sleeper;
  readonly definitions: InstalledDefinitions;
}

function reconcile(leader: Leader, signal: AbortSignal): Reconciler {
  const { config, kube, leads, cluster, identity: instance, metrics, log, sleeper, definitions } = leader;
  const listening: SecretWatchOptions = {
    api: kube,
    times: { ...defaultTimes, relistPeriod: config.relistSeconds * 1000 },
    random: Math.random,
    now: () => performance.now(),
    sleep: sleeper.sleep,
    onFailure(error, wait) {
      metrics.watchFailed(error instanceof KubeError && error.code === 'garbled');
      log.warn({ ...errorFacts(error), wait }, 'the API server');
    },
  };
  const onLost = (error: unknown): void => {
    metrics.eventLost();
    log.debug(errorFacts(error), 'an event is lost');
  };
  const events = createEventRecorder({ api: kube, instance, now: () => new Date(), schedule, onLost }, signal);
  const account = `${config.namespace}:${config.serviceAccount}`;
  const { secrets, keeper } = createClusterSecrets(listening, account, events);
  const addresses = inClusterAddresses(config);
  return startReconciler({
    source: createClusterSource({
      ...listening,
      date: () => new Date(),
      ownNamespace: config.namespace,
      publicHost: new URL(config.publicUrl).hostname,
      secrets,
      definitions,
      // The certificate of the public port names only the API's own Service.
      keepService: config.publicTls ? undefined : createBoxServices({ api: kube, addresses, account }),
    }),
    keeper,
    events,
    meter: metrics.passes,
    cluster,
    adopts: config.adoptCluster,
    readServiceAccounts: (signal) => readServiceAccountKeys(kube, signal),
    sweepPeriod: config.sweepSeconds * 1000,
    holdLimit: config.holdSeconds * 1000,
    usagePeriod: config.usageSeconds * 1000,
    management: callsOfLeader(createManagement(managementOf(config, log)), leads),
    digestKey: createSecretKey(config.digestKey.reveal(), 'base64'),
    inClusterTokenUrl: addresses.tokenUrl,
    defaultIssuer: (box) => `${config.publicUrl}/boxes/${box}`,
    now: () => new Date(),
    random: Math.random,
    schedule,
    onProgress: () => undefined,
    onApiAway(fault) {
      const message = `the API cannot serve, so no box is kept as it is declared: ${fault}`;
      log.error({ reason: fault }, 'the API cannot serve');
      tellInstallation(
        kube,
        { ...config, instance },
        { reason: 'Unavailable', message, now: new Date() },
        signal,
      ).catch(onLost);
    },
    onUsageFailure(box, error, isNew) {
      metrics.usageFailed();
      if (isNew) log.warn({ box, ...errorFacts(error) }, 'the usage of a box cannot be read');
    },
    onFailure: (box, error, wait) => log.warn({ box, wait, ...errorFacts(error) }, 'a pass failed'),
  });
}

function managementOf({ managementUrl: url, managementKey: key, managementCaFile: file }: OperatorConfig, log: Log) {
  return { url, key, ...(file === undefined ? {} : { authority: createManagementAuthority(file, log) }) };
}

/** Retries work, with longer and longer waits, until it succeeds or the signal is aborted. */
async function patiently<T>(work: () => Promise<T>, log: Log, sleeper: Sleeper, signal: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const wait = waitAfter(failures, defaultBackOff, Math.random);
      log.warn({ ...errorFacts(error), wait }, 'cannot begin');
      await sleeper.sleep(wait, signal);
      signal.throwIfAborted();
    }
  }
}
