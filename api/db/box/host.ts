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

/** A function that finds the only box in service; undefined if there is none, or more than one. Throws Outage. */
type RootBoxLookup = () => Promise<string | undefined>;

/** Finds the only box for all requests that wait in one statement. None is answered from before it came. */
export function batchedRootBox(pool: Connections): RootBoxLookup {
  const find = batchesOn(pool, { ...batchBounds, inFlight: 1 })(rootBox);
  return async () => (await find(anyRequest)).box;
}

/** Requests at the root differ in nothing that the statement asks for. */
const anyRequest = {};

/** Maximum number of boxes with a resource that are checked for being in service: one machine has fewer. */
const mostInUse = 200;

const rootBox: Statement<object, { readonly box: string | undefined }> = {
  boxOf: () => '',
  async run(db, requests) {
    const boxes = await db.rows<{ box: string }>(boxesInService, []);
    const found = { box: boxes.length === 1 ? boxes[0]?.box : undefined };
    return requests.map(() => found);
  },
};

// config_versions omits boxes that are not in service.
const boxesInService = fixedText(
  `SELECT v.box FROM boxgate.config_versions(ARRAY(SELECT box FROM boxgate.boxes_in_use(${String(mostInUse)}))) v LIMIT 2`,
);
