import { batchBounds } from '../core/batch-bounds.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { Connections } from '../core/pool.ts';
import { batchesOn } from '../core/statement-batches.ts';
import { fixedText, type Statement } from '../core/statement.ts';

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
  const find = batchesOn(pool, { ...batchBounds, inFlight: 1 })(boxesOfHosts);
  return async (host) => (await find(host)).claim;
}

interface Found {
  readonly claim: HostClaim | undefined;
}

const boxesOfHosts: Statement<string, Found> = {
  boxOf: () => '',
  async run(db, hosts) {
    const values = [arrayLiteral([...new Set(hosts)], quoted)];
    const rows = await db.rows<{ host: string; box: string; issuer: string | null }>(boxesByHost, values);
    const claims = new Map(rows.map(({ host, box, issuer }) => [host, { box, path: issuerPath(issuer, host) }]));
    return hosts.map((host) => ({ claim: claims.get(host) }));
  },
};

const boxesByHost = fixedText(
  'SELECT n.host, b.box, b.issuer FROM unnest($1::text[]) AS n (host) CROSS JOIN boxgate.box_of_host(n.host) AS b',
);

function issuerPath(issuer: string | null, host: string): string {
  const [, name, path = ''] = /^https:\/\/([^/:]+|\[[^\]]+\])(?::\d+)?(\/.+)?$/.exec(issuer ?? '') ?? [];
  return name?.toLowerCase() === host ? path : '';
}
