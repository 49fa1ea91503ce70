import { createLocalJWKSet, errors } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { readClusterSettings } from '../db/box/cluster-settings.ts';
import type { ClusterSettingsRow } from '../db/box/cluster-settings.ts';
import type { Connections } from '../db/core/pool.ts';

/** Issuer of the ServiceAccount tokens of a cluster, and the keys that they are signed with. */
export interface ServiceAccountIssuer {
  readonly issuer: string;
  readonly keys: JWTVerifyGetKey;
}

/** Settings of clusters in the memory of a replica. */
export interface ClusterSettings {
  /**
   * Returns the issuer of a cluster's ServiceAccount tokens at a version of its settings that a statement has just
   * returned, or a later one; undefined if it has none. The same object for the same version. Throws Outage.
   */
  issuer(cluster: string, version: number): Promise<ServiceAccountIssuer | undefined>;
}

interface Held {
  readonly version: number;
  readonly issuer: ServiceAccountIssuer | undefined;
}

/** Creates an empty cache: settings are read when a version is requested that is not in memory. */
export function createClusterSettings(pool: Connections): ClusterSettings {
  const held = new Map<string, Held>();
  // By version too: a load begun for an older one may have read that one.
  const loading = new Map<string, Promise<Held>>();

  async function load(cluster: string, version: number): Promise<Held> {
    const row = await readClusterSettings(pool, cluster);
    const loaded = { version: row?.version ?? version, issuer: issuerOf(row) };
    held.set(cluster, loaded);
    return loaded;
  }

  return {
    async issuer(cluster, version) {
      const known = held.get(cluster);
      if (known?.version === version) return known.issuer;
      const name = `${String(version)} ${cluster}`;
      const running = loading.get(name) ?? load(cluster, version).finally(() => loading.delete(name));
      loading.set(name, running);
      return (await running).issuer;
    },
  };
}

function issuerOf(row: ClusterSettingsRow | undefined): ServiceAccountIssuer | undefined {
  if (row?.serviceAccountIssuer === undefined) return undefined;
  return { issuer: row.serviceAccountIssuer, keys: keysOf(row.serviceAccountKeys) };
}

/** Reads our own column, which was validated when it was stored. */
function keysOf(value: unknown): JWTVerifyGetKey {
  if (!isKeySet(value)) throw new errors.JWKSInvalid('the stored keys of a cluster are none');
  return createLocalJWKSet(value);
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys);
}
