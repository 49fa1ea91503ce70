import { createSecretKey, X509Certificate } from 'node:crypto';
import { createManagement } from '../api/client/management.ts';
import { errorFacts, type Log } from '../program/log.ts';
import { pause, schedule } from '../program/scheduling.ts';
import type { OperatorConfig } from './config.ts';
import { certificatesIn } from './keys/certificate.ts';
import { callsOfLeader } from './leader/election.ts';
import { createClusterSecrets } from './kube/secrets/cluster-secrets.ts';
import { createClusterSource } from './kube/source/cluster-source.ts';
import type { InstalledDefinitions } from './kube/source/installed-definitions.ts';
import { createEventRecorder, tellInstallation } from './kube/source/event-recorder.ts';
import type { KubeApi } from './kube/client/kube-api.ts';
import { KubeError } from './kube/client/kube-error.ts';
import { defaultTimes, type Listening } from './kube/client/list-watch.ts';
import { readServiceAccountKeys } from './kube/source/service-accounts.ts';
import { createBoxServices, inClusterAddresses } from './kube/services/box-services.ts';
import type { OperatorMetrics } from './metrics.ts';
import { startReconciler, type Reconciler } from './reconcile/reconciler.ts';
import { readFile } from 'node:fs/promises';
import { ManagementError } from '../api/client/management-error.ts';

/** Dependencies of the leader. */
export interface Leader {
  readonly config: OperatorConfig;
  readonly kube: KubeApi;
  readonly leads: () => boolean;
  readonly cluster: string;
  readonly identity: string;
  readonly metrics: OperatorMetrics;
  readonly log: Log;
  readonly definitions: InstalledDefinitions;
}

/** Starts the reconciler over a cluster: its declarations, Secrets, Events and Service, until aborted. */
export function reconcileCluster(leader: Leader, signal: AbortSignal): Reconciler {
  const { config, kube, leads, cluster, identity: instance, metrics, log, definitions } = leader;
  const listening: Listening = {
    api: kube,
    times: { ...defaultTimes, relistPeriod: config.relistSeconds * 1000 },
    random: Math.random,
    now: () => performance.now(),
    sleep: pause,
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
    onUsageFailure(box, error) {
      metrics.usageFailed();
      log.warn({ box, ...errorFacts(error) }, 'the usage of a box cannot be read');
    },
    onFailure: (box, error, wait) => log.warn({ box, wait, ...errorFacts(error) }, 'a pass failed'),
  });
}

function managementOf({ managementUrl: url, managementKey: key, managementCaFile: file }: OperatorConfig, log: Log) {
  return { url, key, ...(file === undefined ? {} : { authority: createManagementAuthority(file, log) }) };
}

/**
 * Returns a function that reads the authorities (PEM) by which the operator verifies the API's certificate. The file is
 * read for each call, so a new authority takes effect without a restart. While the file is unusable, the authorities
 * read before stay in use, and the reason is logged once. The function throws ManagementError `unavailable` if there
 * are none yet.
 */
export function createManagementAuthority(file: string, log: Log): () => Promise<string> {
  let current: string | undefined;
  let problem = '';
  return async () => {
    try {
      const found = await readFile(file, 'utf8');
      if (found !== current) {
        demandCertificates(found);
        if (current !== undefined) log.info('changed authorities of the management port are in use');
      }
      [current, problem] = [found, ''];
      return found;
    } catch (cause) {
      const message = `BOXGATE_MANAGEMENT_CA_FILE ${reasonOf(cause)}`;
      if (current === undefined) throw new ManagementError('unavailable', message, { cause });
      if (message !== problem) log.warn({ message }, 'the authorities in use stay');
      problem = message;
      return current;
    }
  };
}

/** Throws if a text holds no certificate, or one that cannot be parsed: node would ignore it silently. */
function demandCertificates(text: string): void {
  const found = certificatesIn(text);
  if (found.length === 0) throw new Error('it is empty of certificates');
  for (const pem of found) new X509Certificate(pem);
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error && 'code' in error) return `cannot be read (${String(error.code)})`;
  return 'must hold one or more certificates in PEM';
}
