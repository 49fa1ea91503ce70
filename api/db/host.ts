import type pg from 'pg';
import { createBatch } from './batch.ts';
import { batchBounds, isOutage } from './hot-batches.ts';
import { arrayLiteral, quoted } from './array-literal.ts';
import { withConnection } from './with-connection.ts';

/** Finds the box whose settings name a host; with two claims the older one. Undefined: none. Throws Outage. */
export type HostLookup = (host: string) => Promise<string | undefined>;

/**
 * Looks hosts up in micro-batches, one statement in flight: requests under made-up names must not use up the pool that
 * the resource endpoints share.
 */
export function batchedHosts(pool: pg.Pool): HostLookup {
  const bounds = { ...batchBounds, inFlight: 1 };
  const hosts = createBatch((items: readonly string[]) => boxesOf(pool, items), bounds, isOutage);
  return async (host) => (await hosts.submit(host)).box;
}

interface Found {
  readonly box: string | undefined;
}

function boxesOf(pool: pg.Pool, hosts: readonly string[]): Promise<readonly Found[]> {
  return withConnection(pool, batchBounds.patience, async (connection) => {
    const { rows } = await connection.query<{ host: string; box: string }>(
      'SELECT n.host, b.box FROM unnest($1::text[]) AS n (host) CROSS JOIN boxgate.box_of_host(n.host) AS b',
      [arrayLiteral([...new Set(hosts)], quoted)],
    );
    const boxes = new Map(rows.map((row) => [row.host, row.box]));
    return hosts.map((host) => ({ box: boxes.get(host) }));
  });
}
