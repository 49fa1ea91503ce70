import type { Connection } from '../core/transaction.ts';
import { batchBounds, batchesOn } from '../hot/statement-batches.ts';
import { arrayLiteral, quoted, fixedText, type Statement } from '../hot/statement.ts';
import type { Connections } from '../core/pool.ts';

/** The box that a host is assigned to. */
interface HostClaim {
  readonly box: string;
  /** Path of the box's issuer, if that is on this host and has one; otherwise empty. */
  readonly path: string;
}

/** A function that finds the box whose settings name a host, the older one of two; undefined: none. Throws Outage. */
type HostLookup = (host: string) => Promise<HostClaim | undefined>;

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

/** Finds the boxes in service for all requests that wait in one statement. None is answered from before it came. */
export function batchedRootBoxes(pool: Connections): () => Promise<readonly string[]> {
  const find = batchesOn(pool, { ...batchBounds, inFlight: 1 })(rootBoxes);
  return async () => (await find(anyRequest)).boxes;
}

/** Requests at the root differ in nothing that the statement asks for. */
const anyRequest = {};

/** Maximum number of boxes with a resource that are checked for being in service: one machine has fewer. */
const mostInUse = 200;

const rootBoxes: Statement<object, { readonly boxes: readonly string[] }> = {
  boxOf: () => '',
  async run(db, requests) {
    const rows = await db.rows<{ box: string }>(boxesInService, []);
    const found = { boxes: rows.map(({ box }) => box) };
    return requests.map(() => found);
  },
};

// config_versions omits boxes that are not in service.
const boxesInService = fixedText(
  `SELECT v.box FROM boxgate.config_versions(ARRAY(SELECT box FROM boxgate.boxes_in_use(${String(mostInUse)}))) v ORDER BY v.box`,
);

/** The hosts that the Namespace of a box grants, and those of them that the box gets. */
export interface HostGrants {
  readonly box: string;
  readonly granted: readonly string[];
  readonly claimed: readonly string[];
}

/** The outcome of {@link assignHosts}. */
export interface AssignedHosts {
  /** Boxes whose hosts or settings have changed. */
  readonly changed: readonly string[];
  /** Claims that were not met: a box of another cluster has the host. */
  readonly refused: readonly { readonly box: string; readonly host: string }[];
  /** Boxes of the cluster that have a host and are not in the request. */
  readonly unnamed: readonly string[];
}

/**
 * Assigns the hosts of a cluster's boxes in one statement: releases hosts that are no longer granted, assigns claimed
 * ones, and removes from each box's settings the hosts and the issuer that it does not have. Call it outside of boxes.
 */
export async function assignHosts(
  connection: Connection,
  cluster: string,
  defaultIssuers: string,
  boxes: readonly HostGrants[],
): Promise<AssignedHosts> {
  const granted = boxes.flatMap(({ box, granted: hosts, claimed }) =>
    hosts.map((host) => ({ box, host, claimed: claimed.includes(host) })),
  );
  const { rows } = await connection.query<{ outcome: string; box: string; host: string | null }>(
    'SELECT outcome, box, host FROM boxgate.assign_hosts($1, $2, $3, $4, $5, $6)',
    [
      cluster,
      defaultIssuers,
      boxes.map(({ box }) => box),
      granted.map(({ box }) => box),
      granted.map(({ host }) => host),
      granted.map(({ claimed }) => claimed),
    ],
  );
  const boxesOf = (outcome: string): readonly string[] =>
    rows.filter((row) => row.outcome === outcome).map(({ box }) => box);
  const refused = rows.flatMap(({ outcome, box, host }) =>
    outcome === 'refused' && host !== null ? [{ box, host }] : [],
  );
  return { changed: boxesOf('changed'), refused, unnamed: boxesOf('unnamed') };
}

/** Returns the hosts of a box. They stay its own until the transaction ends. */
export async function holdHosts(connection: Connection, box: string): Promise<ReadonlySet<string>> {
  const { rows } = await connection.query<{ host: string }>(
    'SELECT host FROM boxgate.box_host WHERE box = $1 FOR KEY SHARE',
    [box],
  );
  return new Set(rows.map(({ host }) => host));
}

/** Assigns hosts to a box, except those that another box has, and releases all its others. */
export async function claimHosts(
  connection: Connection,
  box: string,
  cluster: string,
  hosts: readonly string[],
): Promise<void> {
  await connection.query('DELETE FROM boxgate.box_host WHERE box = $1 AND host <> ALL ($2)', [box, hosts]);
  await connection.query(
    `INSERT INTO boxgate.box_host (host, box, cluster) SELECT host, $1, $2 FROM unnest($3::text[]) AS n (host)
     ORDER BY host ON CONFLICT DO NOTHING`,
    [box, cluster, hosts],
  );
}

/** Releases all hosts of a box without a namespace. In a cluster, {@link assignHosts} releases them. */
export async function releaseHosts(connection: Connection, box: string): Promise<void> {
  await connection.query(
    `DELETE FROM boxgate.box_host h USING boxgate.box b
      WHERE h.box = $1 AND b.box = $1 AND b.namespace_cluster IS NULL`,
    [box],
  );
}
