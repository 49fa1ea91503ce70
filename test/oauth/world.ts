import { randomBytes } from 'node:crypto';
import { createFailedPolicies } from '../../api/policy/decide.ts';
import { createRequestNotes, createUsageNotes } from '../../api/box/notes.ts';
import type pg from 'pg';
import type { AuditEventOfBox } from '../../api/db/audit/audit-event.ts';
import type { ApplyLine } from '../../api/client/desired-state.ts';
import { createCountedEvents, defaultCountedLimits } from '../../api/audit/counted-events.ts';
import { createClientSecrets } from '../../api/credentials/client-secret.ts';
import { createHashQueue } from '../../api/credentials/hash-queue.ts';
import { createKeySealing } from '../../api/credentials/key-sealing.ts';
import { createPasswords } from '../../api/credentials/password.ts';
import { createUserHints } from '../../api/credentials/user-hint.ts';
import type { KeySealing } from '../../api/credentials/key-sealing.ts';
import { declaredDaysOf } from '../../api/db/audit/audit-days.ts';
import { claimEpoch } from '../../api/db/box/cluster-settings.ts';
import { batchedStatements } from '../../api/db/hot/index.ts';
import { batchBounds } from '../../api/db/hot/statement-batches.ts';
import type { BatchedStatements } from '../../api/db/hot/index.ts';
import { Outage } from '../../api/db/core/outage.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import { OAuthError } from '../../api/oauth/oauth-error.ts';
import type { OAuthServices } from '../../api/oauth/services.ts';
import { createClientKeys } from '../../api/oauth/client-auth/client-keys.ts';
import { createRemoteKeySets, fetchLimits } from '../../api/oauth/client-auth/remote-key-sets.ts';
import { createServiceAccountTokens } from '../../api/oauth/client-auth/verify-assertion.ts';
import { createSigningKeys } from '../../api/oauth/keys/signing-keys.ts';
import { createVerifiedJwts } from '../../api/oauth/keys/verified-jwts.ts';
import { readTokenRequest } from '../../api/oauth/token/endpoint.ts';
import type { TokenRequest } from '../../api/oauth/token/grants/grant.ts';
import { applyBox } from '../../api/apply/apply.ts';
import type { ApplyServices } from '../../api/apply/apply.ts';
import { parseApplyLine } from '../../api/http/management/management-lines.ts';
import { createFairQueue } from '../../api/shares/fair-queue.ts';
import { createClusterSettings } from '../../api/box/cluster-settings.ts';
import { createStateCache } from '../../api/box/state-cache.ts';
import { createFirstAdmins } from '../../api/users/admins.ts';
import { freshDatabase } from '../support/postgres.ts';

/** A resource as a test writes it. */
export type Declared = { readonly kind: 'Client' | 'AccessPolicy' | 'Box'; readonly id: string } & Readonly<
  Record<string, unknown>
>;

/** Options of another replica. */
interface Over {
  readonly encryptionKey?: Buffer;
  /** Its hot statements, made of those that all have. */
  readonly statements?: (usual: BatchedStatements) => BatchedStatements;
}

/** A database and replicas of the OAuth services on it, in this process, with a clock that the test sets. */
export interface World {
  /** The first replica; {@link World.replica} makes more. */
  readonly services: OAuthServices;
  /** Its services for a call of the operator. */
  readonly applyServices: ApplyServices;
  /** Sealing of the first replica's signing keys. */
  readonly sealing: KeySealing;
  /** Past row-level security and grants: for what a test arranges or looks at. */
  readonly owner: pg.Pool;
  readonly ownerUrl: string;
  /** Milliseconds since 1970, for all replicas. */
  readonly clock: { now: number };
  /** Takes the records of the events that all replicas have counted. */
  readonly takeRecords: () => readonly AuditEventOfBox[];
  /** Returns how often all replicas took a connection: once for each statement of a batch and each transaction. */
  readonly taken: () => number;
  replica(over?: Over): OAuthServices;
  declare(box: string, ...resources: readonly Declared[]): Promise<void>;
  remove(box: string, kind: 'Client' | 'AccessPolicy' | 'Box', id: string): Promise<void>;
  end(): Promise<void>;
}

/** Makes a world without boxes. */
export async function makeWorld(): Promise<World> {
  const database = await freshDatabase();
  const pools: pg.Pool[] = [];
  let taken = 0;
  const open = (url: string, connections: number): pg.Pool => {
    const pool = createPool(url, { ...defaultLimits, connections }, 'boxgate-test', () => undefined);
    pools.push(pool);
    if (url === database.apiUrl) pool.on('acquire', () => (taken += 1));
    return pool;
  };
  const owner = open(database.ownerUrl, 2);
  const clock = { now: Date.now() };
  const countedEvents = createCountedEvents(defaultCountedLimits, () => clock.now);
  const sharedKey: Buffer = randomBytes(32);

  function replica({ encryptionKey = sharedKey, statements: made = (usual) => usual }: Over = {}): OAuthServices {
    const pool = open(database.apiUrl, 4);
    const sealing = createKeySealing([encryptionKey]);
    const statements = made(batchedStatements(open(database.apiUrl, 2), batchBounds));
    const queue = createHashQueue(1, 64);
    return {
      pool,
      keys: createSigningKeys(pool, sealing),
      verifiedJwts: createVerifiedJwts(),
      userHints: createUserHints([encryptionKey]),
      usage: createUsageNotes(),
      states: createStateCache({ placementOf: () => ({ pool, statements }), sealing, onUnusable: () => undefined }),
      secrets: createClientSecrets(queue),
      passwords: createPasswords(queue, [encryptionKey]),
      clientKeys: createClientKeys(
        createRemoteKeySets({
          hosts: [],
          now: () => clock.now,
          fetchText: () => Promise.reject(new Error('no host is listed')),
          queue: createFairQueue({ resource: 'fetches', noun: 'a fetch' }, fetchLimits),
        }),
      ),
      clusterSettings: createClusterSettings(pool),
      serviceAccountTokens: createServiceAccountTokens(),
      now: () => clock.now,
      issuer: (state) => state.settings.issuer ?? `https://boxgate.test/boxes/${state.box}`,
      failedPolicies: createFailedPolicies(() => undefined),
      requestNotes: createRequestNotes(),
      trailOf: (origin) => ({ origin, now: () => clock.now, log: () => undefined }),
      countedEvents,
      revocationsNeedStandby: false,
    };
  }

  const services = replica();
  const firstAdmins = createFirstAdmins(services);
  const applyServices = { ...services, firstAdmins, declaredDays: declaredDaysOf(services) };
  const epoch = await claimEpoch(services.pool, 'test');

  async function apply(box: string, lines: readonly unknown[]): Promise<void> {
    const parsed: ApplyLine[] = lines.map(parseApplyLine);
    const { results } = await applyBox(
      { box, head: { cluster: 'test', epoch, complete: false }, lines: parsed },
      applyServices,
      () => undefined,
    );
    const refused = results.filter(({ result }) => !['created', 'updated', 'unchanged', 'deleted'].includes(result));
    if (refused.length > 0) throw new Error(`not applied: ${JSON.stringify(refused)}`);
  }

  return {
    services,
    applyServices,
    sealing: createKeySealing([sharedKey]),
    owner,
    ownerUrl: database.ownerUrl,
    clock,
    takeRecords: () => countedEvents.take(true),
    taken: () => taken,
    replica,
    declare: (box, ...resources) =>
      apply(
        box,
        resources.map(({ kind, id, ...fields }) => ({
          kind,
          id,
          owner: { name: `${box}/${id}`, uid: `uid-of-${id}` },
          digest: randomBytes(8).toString('hex'),
          resource: { resourceType: kind, id, ...fields },
        })),
      ),
    remove: (box, kind, id) =>
      apply(box, [{ kind, id, owner: { name: `${box}/${id}`, uid: `uid-of-${id}` }, delete: true }]),
    async end() {
      await Promise.all(pools.map((pool) => pool.end()));
      await database.drop();
    },
  };
}

/** A form as the handlers of the OAuth endpoints hear of it. */
export function formRequest(
  fields: Readonly<Record<string, string>>,
  over: { readonly box?: string; readonly authorization?: string } = {},
): TokenRequest {
  return readTokenRequest({
    box: over.box ?? 'default',
    contentType: 'application/x-www-form-urlencoded',
    authorization: over.authorization,
    body: Buffer.from(new URLSearchParams(fields).toString()),
    remoteAddr: '192.0.2.1',
  });
}

/** Does a piece of work again while Postgres is too busy for it, as a caller that is told 503 does. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Outage) || tries > 50) throw error;
    }
  }
}

/** Returns the value of a piece of work, or the code of its OAuth error. */
export async function outcome<T>(work: Promise<T>): Promise<T | string> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof OAuthError) return error.code;
    throw error;
  }
}
