import type { Server } from 'node:http';
import type { PoolClient } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from './app.ts';
import type { ApiContext } from './http/server/api-context.ts';
import type { CountedEvent } from './audit/counted-events.ts';
import { boxAddressing, createKnownBoxes } from './http/request/box-address.ts';
import type { ApiConfig, DatabaseAddress } from './config.ts';
import { createClientSecrets } from './credentials/client-secret.ts';
import { createDeviceTokens } from './credentials/device-token.ts';
import { createKeySealing } from './credentials/key-sealing.ts';
import type { KeySealing } from './credentials/key-sealing.ts';
import { createHashQueue } from './credentials/hash-queue.ts';
import type { HashQueue } from './credentials/hash-queue.ts';
import { createPasswords } from './credentials/password.ts';
import { createUserHints } from './credentials/user-hint.ts';
import { createDatabaseClock } from './db/core/database-clock.ts';
import { checkIdentity } from './db/core/installation.ts';
import { Outage } from './db/core/outage.ts';
import { defaultLimits, openDatabase } from './db/core/pool.ts';
import type { Connections } from './db/core/pool.ts';
import { heldBodyBytes } from './http/request/read-body.ts';
import { createManagementApp } from './http/management/management.ts';
import { createFailedPolicies } from './policy/decide.ts';
import { answerLog, brokenLog, handshakeLog } from './http/server/answer-counts.ts';
import { createMetrics } from './http/server/metrics.ts';
import type { Probed, Metrics } from './http/server/metrics.ts';
import { defaultStopLimits, gracefulStop } from './http/server/graceful-stop.ts';
import {
  logRefusedConnections,
  publicServerLimits,
  createHttpServer,
  defaultServerLimits,
  listen,
} from './http/server/server.ts';
import { createKnownAddresses } from './http/throttle/secret-guess.ts';
import { createThrottle, defaultThrottle } from './http/throttle/throttle.ts';
import { createUiFiles } from './http/ui/ui-files.ts';
import type { UiFiles } from './http/ui/ui-files.ts';
import { certificateEnds, followCertificates, readCertificates } from './http/tls/certificates.ts';
import type { Certificates } from './http/tls/certificates.ts';
import { trustedProxies } from './ip-address.ts';
import { errorFacts } from '../program/log.ts';
import type { Log } from '../program/log.ts';
import { createClientKeys } from './oauth/client-auth/client-keys.ts';
import { fetchText, createRemoteKeySets, fetchLimits } from './oauth/client-auth/remote-key-sets.ts';
import { createServiceAccountTokens } from './oauth/client-auth/verify-assertion.ts';
import { createVerifiedJwts } from './oauth/keys/verified-jwts.ts';
import { createFairQueue } from './shares/fair-queue.ts';
import type { FairQueue } from './shares/fair-queue.ts';
import { createInFlight } from './shares/in-flight.ts';
import { createByteBudget } from './shares/byte-budget.ts';
import type { ByteBudget } from './shares/byte-budget.ts';
import { createStateCache } from './box/state-cache.ts';
import type { StateCache } from './box/state-cache.ts';
import { createDatabases } from './placement/databases.ts';
import type { Databases } from './placement/databases.ts';
import { createDirectory } from './placement/directory.ts';
import type { Directory } from './placement/directory.ts';
import { createRestores } from './placement/restores.ts';
import type { Restores } from './placement/restores.ts';
import { checkOpen, serveDatabase } from './placement/served-database.ts';
import type { OpenDatabase, Served, SharedParts } from './placement/served-database.ts';
import { waitForDatabase } from './wait-for-database.ts';

/** A running API: its two ports, and the way to stop it. */
export interface RunningApi {
  readonly port: number;
  readonly managementPort: number;
  /** Answers the requests in progress, then closes everything. */
  stop(): Promise<void>;
}

const hashesWaiting = 64;

/** Milliseconds for which a start waits for the other databases than home; those that come later serve later. */
const othersWait = 2_000;

/** Beside others a box does one long piece of work at a time, with a quarter of the event loop. */
const longWorkLimits = { places: 100, mostOfOne: 1, rest: 3, waiting: 5_000, patience: 5_000 };

/** Options of {@link serveApi}. */
export interface ServeOptions {
  /** Clock of the throttle's windows, in milliseconds; by default that of the service. */
  readonly throttleNow?: () => number;
  /** Reads the files of the admin UI; by default those of this API alone. */
  readonly uiFiles?: () => Promise<UiFiles>;
  /** Ends the wait for a database. */
  readonly signal?: AbortSignal;
}

/**
 * Starts the API: checks the home database first (schema, role, that its signing keys can be opened), then opens both
 * ports. Each other database serves its boxes as soon as it can. Throws an Error of one sentence if it cannot serve,
 * and the signal's reason.
 */
export async function serveApi(
  config: ApiConfig,
  log: Log,
  { throttleNow, uiFiles = createUiFiles(), signal = new AbortController().signal }: ServeOptions = {},
): Promise<RunningApi> {
  const certificates = await readCertificates(config);
  const sealing = createKeySealing(config.encryptionKeys);
  const limits = { ...defaultLimits, connections: config.poolSize };
  const open = ({ name, url }: DatabaseAddress): OpenDatabase => {
    const onError = (error: Error): void => {
      log.warn({ ...errorFacts(error), database: name }, 'a connection to Postgres broke');
    };
    const verify = (client: PoolClient): Promise<void> => restores.verify(name, client);
    const pools = openDatabase(url, { ...limits, ...(more.length > 0 && { verify }) }, onError);
    return { name, pools, clock: createDatabaseClock(pools.general, log), restoredAt: () => restores.at(name) };
  };
  const [first, ...more] = config.databases;
  const opened: Opened = [open(first), ...more.map(open)];
  const [home, ...others] = opened;
  const restores: Restores = createRestores([named(home), ...others.map(named)], log);
  try {
    const check = (): Promise<void> => checkOpen(home, sealing);
    await waitForDatabase(check, { config, certificate: certificates.management, log, signal });
    await restores.check();
    const directory = await createDirectory(home.pools.general, log);
    const now = throttleNow ?? home.clock.now;
    return await start({ config, certificates, opened, directory, restores, sealing, log, uiFiles, throttleNow: now });
  } catch (error) {
    await endAll(opened);
    throw error;
  }
}

/** The databases of the settings; the first is home. */
type Opened = readonly [OpenDatabase, ...OpenDatabase[]];

function named({ name, pools }: OpenDatabase): { readonly name: string; readonly pool: Connections } {
  return { name, pool: pools.general };
}

async function endAll(opened: Opened): Promise<void> {
  await Promise.all(opened.map(({ pools }) => pools.end()));
}

/** Parts of a process that has reached its home database. */
interface Given {
  readonly config: ApiConfig;
  readonly certificates: Certificates;
  readonly opened: Opened;
  readonly directory: Directory;
  readonly restores: Restores;
  readonly sealing: KeySealing;
  readonly log: Log;
  readonly throttleNow: () => number;
  readonly uiFiles: () => Promise<UiFiles>;
}

async function start(given: Given): Promise<RunningApi> {
  const { config, opened, directory, restores, sealing, log, throttleNow } = given;
  const hashes = createHashQueue(config.hashThreads, hashesWaiting);
  const fetches = createFairQueue({ resource: 'fetches', noun: 'keys that have to be fetched' }, fetchLimits);
  const inFlight = createInFlight();
  const failedPolicies = createFailedPolicies((box, { policy, reason }) => {
    log.warn({ box, policy, reason }, 'an access policy failed and grants nothing');
  });
  const states = createStateCache({
    sealing,
    most: config.resourcesInMemory,
    placementOf: (box) => databases.of(box).placement,
    onUnusable: (box, kind, id, reason) => {
      log.warn({ box, kind, id, reason }, 'a stored resource cannot be used and grants nothing');
    },
  });
  const limits = { ...defaultThrottle, perClient: config.failuresPerClient, perBox: config.failuresPerBox };
  const shared: SharedParts = {
    ...{ config, log, sealing, inFlight, throttleNow },
    throttle: createThrottle(limits, throttleNow),
    known: createKnownAddresses(throttleNow),
    oauth: { ...sharedServices(config, { hashes, fetches }), states, failedPolicies },
  };
  const [home, ...others] = opened;
  const databases: Databases<Served> = createDatabases(
    [serveDatabase(home, shared), ...others.map((one) => serveDatabase(one, shared))],
    directory,
    { defaultDatabase: config.defaultDatabase, log },
  );
  const life = { stopping: false };
  const ready = async (): Promise<void> => {
    if (life.stopping) throw new Outage('The service is stopping');
    await databases.ready();
  };
  const gauges = {
    ready,
    databases: databases.states,
    certificateEnds: () => certificateEnds(config),
    boxesInMemory: () => states.size,
    secretsWaiting: () => hashes.depth,
    policyFailures: () => failedPolicies.count,
    auditEventsDropped: () => databases.all.reduce((sum, { dropped }) => sum + dropped(), 0),
  };
  const bodyBytes = createByteBudget('body_bytes', heldBodyBytes);
  const longWork = createFairQueue(
    { resource: 'event_loop', noun: 'time of the event loop' },
    { ...longWorkLimits, isAnyBeside: (box) => inFlight.isAnyBeside(box) },
  );
  const connections = databases.all.flatMap(({ queues: { all, long } }) => [all, long]);
  const metrics = createMetrics(gauges, [...connections, hashes, fetches, longWork, bodyBytes, inFlight]);
  const parts = { ...given, ...shared, databases, states, metrics, longWork, bodyBytes };
  const servers = { public: publicServer(parts), management: managementServer(parts, ready) };
  const stops = { public: gracefulStop(servers.public), management: gracefulStop(servers.management) };
  const unfollow = followCertificates(servers, parts);
  await databases.home.begin();
  const stopping = new AbortController();
  const following = others.length === 0 ? [] : [directory.follow(), restores.follow()];
  const beginning = databases.beginOthers(async (database) => {
    const one = opened.find(({ name }) => name === database.name) ?? home;
    await checkOpen(one, sealing);
    await checkIdentity(home.pools.general, one.name, one.pools.general);
    await restores.check(one.name);
    await database.begin();
  }, stopping.signal);
  // A replica that takes requests while it reaches no other database would refuse those of their boxes.
  await Promise.race([beginning, sleep(othersWait, undefined, { ref: false })]);
  const stopBackground = async (): Promise<void> => {
    stopping.abort();
    await beginning;
    await Promise.all([...following.map((one) => one.stop()), ...databases.all.map((database) => database.stop())]);
  };
  const ports = await openPorts(servers, config).catch(async (error: unknown) => {
    unfollow();
    await stopBackground();
    throw error;
  });
  return {
    ...ports,
    async stop() {
      life.stopping = true;
      unfollow();
      await stops.public({ ...defaultStopLimits, linger: 1_000 * config.lingerSeconds });
      // Until then it reports that it is not ready. The operator repeats an interrupted call.
      await stops.management({ quiet: 0, drain: 0, linger: 0, grace: 4_000 });
      await stopBackground();
      await endAll(opened);
    },
  };
}

/** Dependencies of both servers. */
interface Parts extends Given, SharedParts {
  readonly databases: Databases<Served>;
  readonly states: StateCache;
  readonly metrics: Metrics;
  readonly longWork: FairQueue;
  readonly bodyBytes: ByteBudget;
}

function publicServer(parts: Parts): Server {
  const { config, certificates, databases, states, metrics, log, throttle, throttleNow, uiFiles } = parts;
  const { longWork, bodyBytes, inFlight } = parts;
  const boxes = createKnownBoxes({
    holds: (box) => states.holds(box),
    decide: (box, decision) => databases.following(box, () => states.decide(box, decision)),
  });
  const deviceTokens = createDeviceTokens(config.encryptionKeys, throttleNow);
  const countedEvents = { note: (event: CountedEvent) => databases.find(event.box).countedEvents.note(event) };
  const common = {
    ...{ log, boxes, longWork, bodyBytes, inFlight, throttle, deviceTokens },
    addressing: boxAddressing(config, databases),
    uiFiles,
    onAnswer: answerLog(log, metrics, countedEvents),
    isTrustedProxy: trustedProxies(config.trustedProxies),
  };
  const contextOf = ({ oauth, secretLimits, passwordLimits }: Served): ApiContext => {
    return { ...common, oauth, secretLimits, passwordLimits };
  };
  const home = contextOf(databases.home);
  const contexts = new Map(
    databases.all.map((database) => [database, database === databases.home ? home : contextOf(database)]),
  );
  const listener = createApp({
    home,
    all: [...contexts.values()],
    of: (box) => contexts.get(databases.of(box)) ?? home,
    moved: databases.moved,
  });
  const server = createHttpServer(listener, publicServerLimits(config, log), brokenLog(log, metrics), {
    certificate: certificates.public,
    onFailedHandshake: handshakeLog(log),
  });
  logRefusedConnections(server, log);
  return server;
}

function managementServer(parts: Parts, ready: Probed['ready']): Server {
  const { config, certificates, databases, metrics, log, throttleNow } = parts;
  const app = createManagementApp({
    metrics,
    log,
    databases,
    states: databases.states,
    keys: config.managementKeys,
    keyFailures: createThrottle(defaultThrottle, throttleNow).secrets,
    ready,
  });
  // Applying a box of many thousand objects with secrets to hash takes minutes.
  return createHttpServer(app, { ...defaultServerLimits, request: 0, idle: 0 }, brokenLog(log, metrics), {
    certificate: certificates.management,
    onFailedHandshake: handshakeLog(log),
  });
}

async function openPorts(
  servers: { readonly public: Server; readonly management: Server },
  config: ApiConfig,
): Promise<Pick<RunningApi, 'port' | 'managementPort'>> {
  const port = await listen(servers.public, config.host, config.port);
  try {
    return { port, managementPort: await listen(servers.management, config.managementHost, config.managementPort) };
  } catch (error) {
    servers.public.close();
    throw error;
  }
}

/** Creates the services that are the same for the boxes of all databases. */
function sharedServices(
  config: ApiConfig,
  { hashes, fetches }: { readonly hashes: HashQueue; readonly fetches: FairQueue },
): Omit<SharedParts['oauth'], 'states' | 'failedPolicies'> {
  const remoteKeys = createRemoteKeySets({ hosts: config.jwksHosts, fetchText, queue: fetches, now: Date.now });
  return {
    secrets: createClientSecrets(hashes),
    passwords: createPasswords(hashes, config.encryptionKeys),
    clientKeys: createClientKeys(remoteKeys),
    serviceAccountTokens: createServiceAccountTokens(),
    verifiedJwts: createVerifiedJwts(),
    userHints: createUserHints(config.encryptionKeys),
    revocationsNeedStandby: config.revocationsNeedStandby,
    folder: config.folder,
    issuer: (state) => state.settings.issuer ?? `${config.publicUrl}/boxes/${state.box}`,
  };
}
