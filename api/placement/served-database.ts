import { createFirstAdmins } from '../users/admins.ts';
import { auditLines } from '../audit/audit-record.ts';
import { createCountedEvents, defaultCountedLimits } from '../audit/counted-events.ts';
import type { CountedEvents } from '../audit/counted-events.ts';
import type { ApplyServices } from '../apply/apply.ts';
import { createClusterSettings } from '../box/cluster-settings.ts';
import { checkSealing } from '../box/key-ring.ts';
import { createRequestNotes, createUsageNotes } from '../box/notes.ts';
import type { ApiConfig } from '../config.ts';
import { createFailureSlot } from '../credentials/key-sealing.ts';
import type { KeySealing } from '../credentials/key-sealing.ts';
import { declaredDaysOf } from '../db/audit/audit-days.ts';
import { batchedHosts, batchedRootBoxes } from '../db/box/box-host.ts';
import type { DatabaseClock } from '../db/core/database-clock.ts';
import { checkDatabase } from '../db/core/startup.ts';
import type { Connections, Database } from '../db/core/pool.ts';
import { batchedStatements } from '../db/hot/index.ts';
import type { Placement } from '../db/hot/index.ts';
import { batchBounds } from '../db/hot/statement-batches.ts';
import { createConnectionQueues, sharedConnections } from '../fair-connections.ts';
import type { ConnectionQueues } from '../fair-connections.ts';
import { createSharedFailures } from '../http/throttle/failures-of-all-replicas.ts';
import { createPasswordLimits } from '../http/throttle/password-guess.ts';
import type { PasswordLimits } from '../http/throttle/password-guess.ts';
import type { KnownAddresses, SecretLimits } from '../http/throttle/secret-guess.ts';
import type { Throttle } from '../http/throttle/throttle.ts';
import { createSigningKeys } from '../oauth/keys/signing-keys.ts';
import type { OAuthServices } from '../oauth/services.ts';
import type { InFlight } from '../shares/in-flight.ts';
import { startUpkeep } from '../upkeep.ts';
import { startAuditWriting } from '../write-audit.ts';
import { startRequestWriting } from '../write-requests.ts';
import { startSessionCounts, startUsageWriting } from '../write-usage.ts';
import type { ServedDatabase } from './databases.ts';
import type { Log } from '../../program/log.ts';
import type { Rounds } from '../../program/scheduling.ts';

/** A database of the settings, before it is checked. */
export interface OpenDatabase {
  readonly name: string;
  readonly pools: Database;
  readonly clock: DatabaseClock;
  readonly restoredAt: () => number;
}

/** Parts of the process that its databases share. */
export interface SharedParts {
  readonly config: ApiConfig;
  readonly log: Log;
  readonly sealing: KeySealing;
  readonly inFlight: InFlight;
  readonly throttle: Throttle;
  readonly known: KnownAddresses;
  /** The clock of the throttle; milliseconds since 1970. */
  readonly throttleNow: () => number;
  /** Services that are the same for the boxes of all databases. */
  readonly oauth: Omit<
    OAuthServices,
    'pool' | 'now' | 'usage' | 'requestNotes' | 'countedEvents' | 'clusterSettings' | 'keys' | 'trailOf'
  >;
}

/** A database with all that serves its boxes. */
export interface Served extends ServedDatabase {
  readonly pool: Connections;
  readonly placement: Placement;
  readonly queues: ConnectionQueues;
  readonly oauth: OAuthServices;
  readonly apply: ApplyServices;
  readonly secretLimits: SecretLimits;
  readonly passwordLimits: PasswordLimits;
  readonly countedEvents: CountedEvents;
  /** Finds the box of a host among those of this database. */
  readonly boxOfHost: ReturnType<typeof batchedHosts>;
  /** Returns its boxes in use, for the root of a standalone installation. */
  readonly rootBoxes: ReturnType<typeof batchedRootBoxes>;
  /** Records of its audit trail that were not stored. */
  readonly dropped: () => number;
  /** Begins its upkeep and its writing. Throws Outage if the upkeep cannot begin. */
  begin(): Promise<void>;
  /** Writes what is left, and ends. */
  stop(): Promise<void>;
}

/** Checks that the API can serve on a database. Throws an Error of one sentence; Outage if that may change. */
export async function checkOpen({ pools, clock }: OpenDatabase, sealing: KeySealing): Promise<void> {
  await checkDatabase(pools.general);
  await clock.compare();
  await checkSealing(pools.general, sealing);
}

/** Milliseconds. */
const hour = 3_600_000;

/** Creates all that serves the boxes of a database; nothing is asked of it yet. */
export function serveDatabase({ name, pools, clock, restoredAt }: OpenDatabase, shared: SharedParts): Served {
  const { config, log, throttle, throttleNow } = shared;
  const { now } = clock;
  const usage = createUsageNotes();
  const requestNotes = createRequestNotes();
  const countedEvents = createCountedEvents(defaultCountedLimits, now);
  const queues = createConnectionQueues(config.poolSize, shared.inFlight);
  const pool = sharedConnections(pools.general, queues);
  const oauth: OAuthServices = {
    ...shared.oauth,
    ...{ pool, usage, requestNotes, countedEvents, now },
    clusterSettings: createClusterSettings(pools.hot),
    keys: createSigningKeys(pool, shared.sealing),
    trailOf: (origin) => ({ origin, now, log: auditLines(log) }),
  };
  const auditing = startAuditWriting({ pool: pools.general, events: countedEvents, log });
  const background: Pick<Rounds, 'stop'>[] = [auditing];
  return {
    ...{ name, pool, queues, oauth, countedEvents, restoredAt },
    placement: { pool, statements: batchedStatements(pools.hot, batchBounds), restoredAt },
    apply: { ...oauth, firstAdmins: createFirstAdmins(oauth), declaredDays: declaredDaysOf(oauth) },
    secretLimits: {
      throttle,
      shared: createSharedFailures(pools.hot, hour, throttleNow),
      known: shared.known,
      slot: createFailureSlot(config.encryptionKeys[0]),
      perSecret: config.failuresPerSecret,
    },
    passwordLimits: createPasswordLimits({
      throttle,
      pool: pools.hot,
      key: config.encryptionKeys[0],
      perAccount: config.failuresPerAccount,
      now: throttleNow,
    }),
    boxOfHost: batchedHosts(pools.hot),
    rootBoxes: batchedRootBoxes(pools.hot),
    dropped: auditing.dropped,
    // With the token path's own connections: slow searches must not take every replica out of service.
    check: () => checkDatabase(pools.hot),
    async begin() {
      background.push(
        await startUpkeep(oauth, log),
        startUsageWriting(pool, usage, log),
        startSessionCounts({ pool, notes: usage, now, log }),
        startRequestWriting({ pool: pools.general, notes: requestNotes, now, log }),
        clock.follow(),
      );
    },
    async stop() {
      await Promise.all(background.map((one) => one.stop()));
    },
  };
}
