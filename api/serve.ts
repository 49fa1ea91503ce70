import type { Server } from 'node:http';
import { createApp } from './app.ts';
import { auditLines } from './audit/audit-record.ts';
import { createCountedEvents, defaultCountedLimits } from './audit/counted-events.ts';
import type { CountedEvents } from './audit/counted-events.ts';
import { boxAddressing, createKnownBoxes } from './http/request/box-address.ts';
import type { ApiConfig } from './config.ts';
import { createClientSecrets } from './credentials/client-secret.ts';
import { createDeviceTokens } from './credentials/device-token.ts';
import { createFailureSlot, createKeySealing } from './credentials/key-sealing.ts';
import { createHashQueue } from './credentials/hash-queue.ts';
import type { HashQueue } from './credentials/hash-queue.ts';
import { createPasswords } from './credentials/password.ts';
import { createUserHints } from './credentials/user-hint.ts';
import { declaredDaysOf } from './db/audit/audit-days.ts';
import { batchedStatements } from './db/hot/index.ts';
import { batchBounds } from './db/hot/statement-batches.ts';
import { Outage } from './db/core/outage.ts';
import { defaultLimits, openDatabase } from './db/core/pool.ts';
import type { Connections, Database } from './db/core/pool.ts';
import { checkDatabase } from './db/core/startup.ts';
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
import { createPasswordLimits } from './http/throttle/password-guess.ts';
import { createSharedFailures } from './http/throttle/failures-of-all-replicas.ts';
import { createThrottle, defaultThrottle } from './http/throttle/throttle.ts';
import { createUiFiles } from './http/ui/ui-files.ts';
import { certificateEnds, followCertificates, readCertificates } from './certificates.ts';
import type { Certificates } from './certificates.ts';
import { trustedProxies } from './ip-address.ts';
import { errorFacts } from '../program/log.ts';
import type { Log } from '../program/log.ts';
import { createClientKeys } from './oauth/client-auth/client-keys.ts';
import { fetchText, createRemoteKeySets, fetchLimits } from './oauth/client-auth/remote-key-sets.ts';
import { createServiceAccountTokens } from './oauth/client-auth/verify-assertion.ts';
import type { OAuthServices } from './oauth/services.ts';
import { createSigningKeys } from './oauth/keys/signing-keys.ts';
import { createVerifiedJwts } from './oauth/keys/verified-jwts.ts';
import { createFairQueue } from './shares/fair-queue.ts';
import type { FairQueue } from './shares/fair-queue.ts';
import { createConnectionQueues, sharedConnections } from './fair-connections.ts';
import { startSessionCounts } from './count-sessions.ts';
import { startUpkeep } from './upkeep.ts';
import { createInFlight } from './shares/in-flight.ts';
import type { InFlight } from './shares/in-flight.ts';
import { createByteBudget } from './shares/byte-budget.ts';
import type { ByteBudget } from './shares/byte-budget.ts';
import { checkSealing } from './box/key-ring.ts';
import { createClusterSettings } from './box/cluster-settings.ts';
import { createStateCache } from './box/state-cache.ts';
import { createRequestNotes, createUsageNotes } from './box/notes.ts';
import { waitForDatabase } from './wait-for-database.ts';
import { startAuditWriting } from './write-audit.ts';
import { startRequestWriting } from './write-requests.ts';
import { startUsageWriting } from './write-usage.ts';
import { createFollowedClock } from './follow-clock.ts';
import type { FollowedClock } from './follow-clock.ts';
import { createFirstAdmins } from './users/admins.ts';

/** A running API: its two ports, and the way to stop it. */
export interface RunningApi {
  readonly port: number;
  readonly managementPort: number;
  /** Answers the requests in progress, then closes everything. */
  stop(): Promise<void>;
}

const hashesWaiting = 64;

/** Beside others a box does one long piece of work at a time, with a quarter of the event loop. */
const longWorkLimits = { places: 100, mostOfOne: 1, rest: 3, waiting: 5_000, patience: 5_000 };

/** Options of {@link serveApi}. */
export interface ServeOptions {
  /** Clock of the throttle's windows, in milliseconds; by default that of the service. */
  readonly throttleNow?: () => number;
  /** Ends the wait for a database. */
  readonly signal?: AbortSignal;
}

/**
 * Starts the API: checks the database first (schema, role, that its signing keys can be opened), then opens both ports.
 * Throws an Error of one sentence if it cannot serve, and the signal's reason.
 */
export async function serveApi(
  config: ApiConfig,
  log: Log,
  { throttleNow, signal = new AbortController().signal }: ServeOptions = {},
): Promise<RunningApi> {
  const certificates = await readCertificates(config);
  const limits = { ...defaultLimits, connections: config.poolSize };
  const database = openDatabase(config.databaseUrl, limits, (error) => {
    log.warn(errorFacts(error), 'a connection to Postgres broke');
  });
  try {
    const clock = createFollowedClock(database.general, log);
    const check = async (): Promise<void> => {
      await checkDatabase(database.general);
      await clock.compare();
      await checkSealing(database.general, createKeySealing(config.encryptionKeys));
    };
    await waitForDatabase(check, { config, certificate: certificates.management, log, signal });
    return await start({ config, certificates, database, log, clock, throttleNow: throttleNow ?? clock.now });
  } catch (error) {
    await database.end();
    throw error;
  }
}

async function start(
  given: Omit<Parts, 'oauth' | 'metrics' | 'longWork' | 'bodyBytes' | 'inFlight'>,
): Promise<RunningApi> {
  const { config, database, log, clock } = given;
  const queue = createHashQueue(config.hashThreads, hashesWaiting);
  const usage = createUsageNotes();
  const requestNotes = createRequestNotes();
  const failedPolicies = createFailedPolicies((box, { policy, reason }) => {
    log.warn({ box, policy, reason }, 'an access policy failed and grants nothing');
  });
  const inFlight = createInFlight();
  const connections = createConnectionQueues(config.poolSize, inFlight);
  const pool = sharedConnections(database.general, connections);
  const fetches = createFairQueue({ resource: 'fetches', noun: 'keys that have to be fetched' }, fetchLimits);
  const events = createCountedEvents(defaultCountedLimits, clock.now);
  const ofProcess = { hashes: queue, fetches, events, now: clock.now };
  const services = oauthServices(config, { ...database, general: pool }, ofProcess, log);
  const oauth = { ...services, usage, requestNotes, failedPolicies };
  const auditing = startAuditWriting({ pool: database.general, events, log });
  const life = { stopping: false };
  const ready = readiness(database, life);
  const gauges = {
    ready,
    certificateEnds: () => certificateEnds(config),
    boxesInMemory: () => oauth.states.size,
    secretsWaiting: () => queue.depth,
    policyFailures: () => failedPolicies.count,
    auditEventsDropped: auditing.dropped,
  };
  const bodyBytes = createByteBudget('body_bytes', heldBodyBytes);
  const longWork = createFairQueue(
    { resource: 'event_loop', noun: 'time of the event loop' },
    { ...longWorkLimits, isAnyBeside: (box) => inFlight.isAnyBeside(box) },
  );
  const { all, long } = connections;
  const metrics = createMetrics(gauges, [all, long, queue, fetches, longWork, bodyBytes, inFlight]);
  const parts = { ...given, oauth, metrics, longWork, bodyBytes, inFlight };
  const servers = { public: publicServer(parts), management: managementServer(parts, ready) };
  const stops = { public: gracefulStop(servers.public), management: gracefulStop(servers.management) };
  const unfollow = followCertificates(servers, parts);
  const upkeep = await startUpkeep(oauth, log);
  const writing = startUsageWriting(pool, usage, log);
  const counting = startSessionCounts({ pool, notes: usage, now: oauth.now, log });
  const recording = startRequestWriting({ pool: database.general, notes: requestNotes, now: oauth.now, log });
  const background = [upkeep, writing, counting, auditing, recording, clock.follow()];
  const stopBackground = () => Promise.all(background.map((one) => one.stop()));
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
      await database.end();
    },
  };
}

/** Dependencies of both servers. */
interface Parts {
  readonly config: ApiConfig;
  readonly certificates: Certificates;
  readonly database: Database;
  readonly oauth: OAuthServices;
  readonly metrics: Metrics;
  readonly longWork: FairQueue;
  readonly bodyBytes: ByteBudget;
  readonly inFlight: InFlight;
  readonly log: Log;
  readonly clock: FollowedClock;
  readonly throttleNow: () => number;
}

function publicServer(parts: Parts): Server {
  const { config, certificates, database, oauth, metrics, log, throttleNow } = parts;
  const { longWork, bodyBytes, inFlight } = parts;
  const limits = { ...defaultThrottle, perClient: config.failuresPerClient, perBox: config.failuresPerBox };
  const throttle = createThrottle(limits, throttleNow);
  const listener = createApp({
    oauth,
    log,
    addressing: boxAddressing(config, database.hot),
    boxes: createKnownBoxes(oauth.states),
    longWork,
    bodyBytes,
    inFlight,
    throttle,
    secretLimits: {
      throttle,
      shared: createSharedFailures(database.hot, hour, throttleNow),
      known: createKnownAddresses(throttleNow),
      slot: createFailureSlot(config.encryptionKeys[0]),
      perSecret: config.failuresPerSecret,
    },
    passwordLimits: createPasswordLimits({
      throttle,
      pool: database.hot,
      key: config.encryptionKeys[0],
      perAccount: config.failuresPerAccount,
      now: throttleNow,
    }),
    deviceTokens: createDeviceTokens(config.encryptionKeys, throttleNow),
    uiFiles: createUiFiles(),
    onAnswer: answerLog(log, metrics, oauth.countedEvents),
    isTrustedProxy: trustedProxies(config.trustedProxies),
  });
  const server = createHttpServer(listener, publicServerLimits(config, log), brokenLog(log, metrics), {
    certificate: certificates.public,
    onFailedHandshake: handshakeLog(log),
  });
  logRefusedConnections(server, log);
  return server;
}

/** Milliseconds. */
const hour = 3_600_000;

/** State of a process that the management port reports. */
interface Life {
  stopping: boolean;
}

/** Returns the check whether this replica can serve: it resolves if it can, otherwise it throws the reason. */
function readiness(database: Database, life: Life): Probed['ready'] {
  return async () => {
    if (life.stopping) throw new Outage('The service is stopping');
    // With the token path's own connections: slow searches must not take every replica out of service.
    await checkDatabase(database.hot);
  };
}

function managementServer(parts: Parts, ready: Probed['ready']): Server {
  const { config, certificates, oauth, metrics, log, throttleNow } = parts;
  const app = createManagementApp({
    metrics,
    log,
    pool: oauth.pool,
    apply: { ...oauth, firstAdmins: createFirstAdmins(oauth), declaredDays: declaredDaysOf(oauth) },
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

/** Parts of the process that its services share. */
interface OfProcess {
  readonly hashes: HashQueue;
  readonly fetches: FairQueue;
  readonly events: CountedEvents;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

function oauthServices(
  config: ApiConfig,
  database: { readonly hot: Connections; readonly general: Connections },
  { hashes, fetches, events, now }: OfProcess,
  log: Log,
): Omit<OAuthServices, 'usage' | 'requestNotes' | 'failedPolicies'> {
  const sealing = createKeySealing(config.encryptionKeys);
  const remoteKeys = createRemoteKeySets({ hosts: config.jwksHosts, fetchText, queue: fetches, now: Date.now });
  const placement = { pool: database.general, statements: batchedStatements(database.hot, batchBounds) };
  return {
    pool: database.general,
    secrets: createClientSecrets(hashes),
    passwords: createPasswords(hashes, config.encryptionKeys),
    clientKeys: createClientKeys(remoteKeys),
    clusterSettings: createClusterSettings(database.hot),
    serviceAccountTokens: createServiceAccountTokens(),
    keys: createSigningKeys(database.general, sealing),
    verifiedJwts: createVerifiedJwts(),
    userHints: createUserHints(config.encryptionKeys),
    now,
    revocationsNeedStandby: config.revocationsNeedStandby,
    folder: config.folder,
    issuer: (state) => state.settings.issuer ?? `${config.publicUrl}/boxes/${state.box}`,
    trailOf: (origin) => ({ origin, now, log: auditLines(log) }),
    countedEvents: events,
    states: createStateCache({
      sealing,
      most: config.resourcesInMemory,
      placementOf: () => placement,
      onUnusable: (box, kind, id, reason) => {
        log.warn({ box, kind, id, reason }, 'a stored resource cannot be used and grants nothing');
      },
    }),
  };
}
