import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { errorFacts, type Log } from '../program/log.ts';
import { giveBackMemory } from '../program/small-heap.ts';
import { pause, schedule } from '../program/scheduling.ts';
import { waitAfter } from './reconcile/work-queue.ts';
import type { OperatorConfig } from './config.ts';
import { Election, requireLead } from './leader/election.ts';
import { readClusterId } from './kube/client/kube-object.ts';
import { clusterConfig, createConnection, type Connection } from './kube/client/cluster-config.ts';
import { followDefinitions, type InstalledDefinitions, skewLines } from './kube/source/installed-definitions.ts';
import { createKubeApi, type KubeApi, type KubeApiOptions } from './kube/client/kube-api.ts';
import { createLeaseStore } from './kube/client/lease-store.ts';
import { defaultTimes } from './kube/client/list-watch.ts';
import { createOperatorMetrics } from './metrics.ts';
import type { Reconciler } from './reconcile/reconciler.ts';
import { followRights, lacking } from './kube/client/rights.ts';
import { reconcileCluster } from './cluster-reconciler.ts';
import { createServer, type ServerResponse } from 'node:http';
import type { OperatorMetrics } from './metrics.ts';
import { portOf } from '../program/environment.ts';

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
  const metrics = createOperatorMetrics({
    leads: () => election.leads(),
    definitions: () => definitions.kinds(),
    missingRights: () => rights.missing(),
    now: () => performance.now(),
  });
  const count: Count = (request, status) => metrics.answered(verbOf(request), status);
  const election = elect(config, identity, leaseApi(config, connection, count), log);
  const kube = createKubeApi(connection, { onAnswer: count });
  const definitions = followOwnDefinitions(kube, log, stopping.signal);
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
  const onReturn = (): void => reconciler?.retry();
  const rights = followRights({ ...config, kube, instance: identity, log, onReturn }, stopping.signal);

  async function lead(): Promise<never> {
    const { signal } = stopping;
    const cluster = config.clusterId ?? (await patiently(() => readClusterId(kube, signal), log, signal));
    await election.won;
    signal.throwIfAborted();
    log.info({ cluster }, 'this replica leads');
    const leader = {
      config,
      kube: createKubeApi(connection, { onAnswer: count, onWrite: () => requireLead(election.leads) }),
      leads: election.leads,
      cluster,
      identity,
      metrics,
      log,
      definitions,
    };
    reconciler = reconcileCluster(leader, signal);
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
function followOwnDefinitions(api: KubeApi, log: Log, signal: AbortSignal): InstalledDefinitions {
  const onFailure = (error: unknown): void => log.warn(errorFacts(error), 'the definitions of custom resources');
  const definitions = followDefinitions({ api, sleep: pause, onFailure }, signal);
  definitions.onChange(() => {
    const skew = skewLines(definitions.kinds());
    if (skew.length > 0) log.warn({ skew }, 'the definitions of custom resources are of another release');
  });
  return definitions;
}

/** Returns the verb of a request; `REVIEW`: a POST that checks rights and stores nothing. */
function verbOf(request: Parameters<Count>[0]): string {
  const { pathname, searchParams } = new URL(request.getUrl());
  if (pathname.includes('/apis/authorization.k8s.io/')) return 'REVIEW';
  return searchParams.get('watch') === 'true' ? 'WATCH' : request.getHttpMethod();
}

type Count = NonNullable<KubeApiOptions['onAnswer']>;

/** Creates the API for the Lease: a later answer leaves no time for another try over another connection. */
function leaseApi({ leaseSeconds }: OperatorConfig, connection: Connection, count: Count): KubeApi {
  return createKubeApi(connection, { timeout: (leaseSeconds * 1000) / 4, onAnswer: count });
}

function elect(config: OperatorConfig, identity: string, api: KubeApi, log: Log): Election {
  const { namespace, leaseName: name, leaseSeconds: seconds, podUid } = config;
  const duration = seconds * 1000;
  return new Election({
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

/** Retries work, with longer and longer waits, until it succeeds or the signal is aborted. */
async function patiently<T>(work: () => Promise<T>, log: Log, signal: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const wait = waitAfter(failures, defaultTimes.backOff, Math.random);
      log.warn({ ...errorFacts(error), wait }, 'cannot begin');
      await pause(wait, signal);
      signal.throwIfAborted();
    }
  }
}

/** A port on which a cluster checks the operator's health. */
interface HealthServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Address of the port, and sources of its answers. */
interface HealthOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Returns why the operator is not ready; undefined if it is. */
  readonly notReady: () => string | undefined;
  readonly metrics: OperatorMetrics;
  /** Returns remarks for people while the operator is ready: lines below `ok`. */
  readonly remarks?: () => readonly string[];
}

/** Opens the port: `/healthz` (the process runs), `/readyz` (see `notReady`), `/metrics` (Prometheus). */
async function startHealthServer({ host, port, notReady, metrics, remarks }: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url?.split('?')[0];
    if (path === '/healthz') answer(response, 200, 'ok');
    else if (path === '/readyz')
      answer(response, notReady() === undefined ? 200 : 503, notReady() ?? ['ok', ...(remarks?.() ?? [])].join('\n'));
    else if (path === '/metrics') sendMetrics(metrics, response);
    else answer(response, 404, 'there is nothing at this address');
  });
  // Only probes and Prometheus call it: no request takes long.
  Object.assign(server, { headersTimeout: 5_000, requestTimeout: 5_000, maxConnections: 100 });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(new Error(`cannot listen on port ${String(port)}`, { cause })));
    server.listen(port, host, resolve);
  });
  return {
    port: portOf(server),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function sendMetrics(metrics: OperatorMetrics, response: ServerResponse): void {
  metrics.page().then(
    ({ contentType, text }) => answer(response, 200, text, contentType),
    () => answer(response, 500, 'the metrics cannot be read'),
  );
}

function answer(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, {
    'Content-Type': type,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  response.end(text);
}
