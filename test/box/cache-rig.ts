import { makeSessionId } from '../../api/credentials/token-text.ts';
import { createKeySealing } from '../../api/credentials/key-sealing.ts';
import { bumpVersion } from '../../api/db/box/box.ts';
import { batchedStatements } from '../../api/db/hot/index.ts';
import { batchBounds } from '../../api/db/hot/statement-batches.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import { deleteResources } from '../../api/db/resource/write.ts';
import { storeResources } from '../../api/db/resource/store.ts';
import { bucketOf } from '../../api/db/session/bucket.ts';
import type { NewSession } from '../../api/db/hot/issue.ts';
import { createStateCache } from '../../api/box/state-cache.ts';
import type { StateCache } from '../../api/box/state-cache.ts';
import type { BoxDatabase } from '../records/box-database.ts';

/** A new cache of box states, with a pool of its own for its loads. */
export interface CacheRig {
  readonly cache: StateCache;
  /** Connections that the loads and the transactions of its caches took; a test empties the list. */
  readonly taken: string[];
  /** Time of the last known restore of the database, in microseconds since 1970. */
  readonly restored: { at: number };
  /** Returns another cache on the same pool. */
  createCache(most?: number): StateCache;
  end(): Promise<void>;
}

/** Returns a cache on a database whose boxes hold no resources. */
export async function cacheRig(database: BoxDatabase): Promise<CacheRig> {
  await database.owner.query(`DELETE FROM boxgate.resource`);
  const taken: string[] = [];
  const url = database.pool.options.connectionString ?? '';
  const general = createPool(url, { ...defaultLimits, connections: 2 }, 'general', () => undefined);
  // Every load and every transaction takes a connection.
  general.on('acquire', () => taken.push('acquired'));
  const restored = { at: 0 };
  const statements = batchedStatements(database.pool, batchBounds);
  const placement = { pool: general, statements, restoredAt: () => restored.at };
  const createCache = (most?: number): StateCache =>
    createStateCache({
      ...(most === undefined ? {} : { most }),
      placementOf: () => placement,
      sealing: createKeySealing([Buffer.alloc(32)]),
      onUnusable: () => undefined,
    });
  return { cache: createCache(), taken, restored, createCache, end: () => general.end() };
}

/** Stores a client under a new version of the box; returns the version. */
export function storeClient(database: BoxDatabase, id: string, name: string): Promise<number> {
  return database.write(async (connection) => {
    const version = await bumpVersion(connection, 'default');
    const body = { resourceType: 'Client', id, grant_types: ['client_credentials'], name };
    const rest = { secrets: undefined, owner: undefined, digest: undefined };
    await storeResources(connection, 'default', version, [{ kind: 'Client', id, body, ...rest }]);
    return version;
  });
}

/** Deletes a client under a new version of the box. */
export function removeClient(database: BoxDatabase, id: string): Promise<unknown> {
  return database.write(async (connection) => {
    const version = await bumpVersion(connection, 'default');
    return deleteResources(connection, 'default', version, [{ kind: 'Client', id }]);
  });
}

/** Returns the name of a client as a decision sees it. */
export function nameIn(cache: StateCache, id: string): Promise<{ name: string | undefined } | undefined> {
  return cache.decide('default', async (state) => ({ name: state.clients.get(id)?.client.name }));
}

/** Returns a session of a client of the box `default`. */
export function sessionOf(client: string, version = 1): NewSession {
  const now = Date.now();
  const expiresAt = Math.floor(now / 1000) + 60;
  const bucket = bucketOf(Math.floor(now / 1000), expiresAt);
  return {
    box: 'default',
    version,
    id: makeSessionId(bucket, now),
    bucket,
    expiresAt,
    type: 'c',
    client,
    hash: null,
    remoteAddr: null,
    user: null,
    scope: null,
    audience: null,
    userAgent: null,
  };
}
