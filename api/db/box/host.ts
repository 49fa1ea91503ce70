import { createBatch } from '../core/batch.ts';
import { batchBounds, isOutage } from '../core/batch-bounds.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { Connections } from '../core/pool.ts';
import { withConnection } from '../core/with-connection.ts';

/** The box that a host is assigned to. */
export interface HostClaim {
  readonly box: string;
  /** Path of the box's issuer, if that is on this host and has one; otherwise empty. */
  readonly path: string;
}

/** A function that finds the box whose settings name a host, the older one of two; undefined: none. Throws Outage. */
export type HostLookup = (host: string) => Promise<HostClaim | undefined>;

/**
 * Looks up hosts in micro-batches, one statement in flight: requests with made-up names must not use up the pool that
 * the resource endpoints share.
 */
export function batchedHosts(pool: Connections): HostLookup {
  const bounds = { ...batchBounds, inFlight: 1 };
  const hosts = createBatch((items: readonly string[]) => boxesOf(pool, items), bounds, isOutage);
  return async (host) => (await hosts.submit(host)).claim;
}

interface Found {
  readonly claim: HostClaim | undefined;
}

function boxesOf(pool: Connections, hosts: readonly string[]): Promise<readonly Found[]> {
  return withConnection(pool, batchBounds.patience, async (connection) => {
    const { rows } = await connection.query<{ host: string; box: string; issuer: string | null }>(
      'SELECT n.host, b.box, b.issuer FROM unnest($1::text[]) AS n (host) CROSS JOIN boxgate.box_of_host(n.host) AS b',
      [arrayLiteral([...new Set(hosts)], quoted)],
    );
    const claims = new Map(rows.map(({ host, box, issuer }) => [host, { box, path: issuerPath(issuer, host) }]));
    return hosts.map((host) => ({ claim: claims.get(host) }));
  });
}

function issuerPath(issuer: string | null, host: string): string {
  const [, name, path = ''] = /^https:\/\/([^/:]+|\[[^\]]+\])(?::\d+)?(\/.+)?$/.exec(issuer ?? '') ?? [];
  return name?.toLowerCase() === host ? path : '';
}
