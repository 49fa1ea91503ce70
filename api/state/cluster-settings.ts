import { createLocalJWKSet, errors } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { readClusterSettings } from '../db/cluster-settings.ts';
import type { ClusterSettingsRow } from '../db/cluster-settings.ts';
import type { Connections } from '../db/pool.ts';

/** Who makes the ServiceAccount tokens of a cluster, and the keys they are signed with. */
export interface ServiceAccountIssuer {
  readonly issuer: string;
  readonly keys: JWTVerifyGetKey;
}

/** What a replica keeps of the settings of clusters. */
export interface ClusterSettings {
  /**
   * The issuer of a cluster's ServiceAccount tokens under a version of its settings that a statement has just told, or a
   * later one; undefined when it has none. The same object as long as the version is the same. Throws Outage.
   */
  issuer(cluster: string, version: number): Promise<ServiceAccountIssuer | undefined>;
}

interface Held {
  readonly version: number;
  readonly issuer: ServiceAccountIssuer | undefined;
}

/** Holds nothing yet: settings are read when a version is asked for that is not the one in memory. */
export function createClusterSettings(pool: Connections): ClusterSettings {
  const held = new Map<string, Held>();
  // By version too: what was begun for an older one may have read that one.
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

/** Our own column, judged when it was stored. */
function keysOf(value: unknown): JWTVerifyGetKey {
  if (!isKeySet(value)) throw new errors.JWKSInvalid('the stored keys of a cluster are none');
  return createLocalJWKSet(value);
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys);
}
