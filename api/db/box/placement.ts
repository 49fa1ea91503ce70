import { bumpVersion, lockVersion } from './box.ts';
import type { Connections } from '../core/pool.ts';
import { inBoxInTransit, outsideBoxes } from '../core/transaction.ts';
import type { Connection } from '../core/transaction.ts';
import { requestLimit, withConnection } from '../core/with-connection.ts';

/** The database that a box is in, as the home database knows it. */
export interface PlacedBox {
  readonly box: string;
  /** The name of the database. */
  readonly database: string;
  /** Moves with every change of the placement. */
  readonly version: number;
}

interface PlacedRow {
  readonly box: string;
  readonly database: string;
  readonly version: string;
}

/**
 * Reads the placements after a version, oldest first, and again those of the last minute: one may be committed later
 * than its version says. A box without one is in the home database. Throws Outage.
 */
export function readPlacements(home: Connections, after: number): Promise<readonly PlacedBox[]> {
  return withConnection(home, readLimit, async (connection) => {
    const { rows } = await connection.query<PlacedRow>(
      `SELECT box, database, version FROM boxgate.placement
        WHERE version > least($1, (extract(epoch FROM now() - interval '1 minute') * 1000000)::bigint) ORDER BY version`,
      [after],
    );
    return rows.map(placedBox);
  });
}

/** Milliseconds that reading the directory of an installation may take: 100,000 boxes take a tenth of it. */
const readLimit = 10_000;

/** Reads the placement of a box; undefined: it has none. Throws Outage. */
export function readPlacement(home: Connections, box: string): Promise<PlacedBox | undefined> {
  return withConnection(home, requestLimit, (connection) => placementOf(connection, box));
}

async function placementOf(connection: Connection, box: string): Promise<PlacedBox | undefined> {
  const { rows } = await connection.query<PlacedRow>(
    'SELECT box, database, version FROM boxgate.placement WHERE box = $1',
    [box],
  );
  return rows[0] === undefined ? undefined : placedBox(rows[0]);
}

/**
 * Places a box that nothing is stored of yet; returns where it is: whoever came first decides, and a box that the home
 * database has stays there (undefined). Throws Outage.
 */
export function placeBox(home: Connections, box: string, database: string): Promise<PlacedBox | undefined> {
  return outsideBoxes(home, async (connection) => {
    await connection.query(`SET LOCAL boxgate.box = '${box}'`);
    await connection.query(
      `INSERT INTO boxgate.placement (box, database, version)
       SELECT $1, $2, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
        WHERE NOT EXISTS (SELECT FROM boxgate.box WHERE box = $1) ON CONFLICT DO NOTHING`,
      [box, database],
    );
    return placementOf(connection, box);
  });
}

/** Enters the database of a box that was moved, unless a later move is entered. Throws Outage. */
export async function enterPlacement(home: Connections, { box, database, version }: PlacedBox): Promise<void> {
  await outsideBoxes(home, (connection) =>
    connection.query(
      `INSERT INTO boxgate.placement AS p (box, database, version) VALUES ($1, $2, $3)
       ON CONFLICT (box) DO UPDATE SET database = excluded.database, version = excluded.version
        WHERE p.version < excluded.version`,
      [box, database, version],
    ),
  );
}

/** A restore of a database, and a box in it. */
export interface Loss {
  /** Time of the restore, in microseconds since 1970. */
  readonly restoredAt: number;
  /** The version that the box was placed at; a box that was placed later is a new one. */
  readonly placedAt: number;
  /** The version that an admin has accepted. */
  readonly accepted: number | undefined;
}

/**
 * Checks that the data of a box may be served and changed after the restore of its database. An admin accepts what is
 * left by its config version, 0 for a box that is not there any more: from then on sessions and refresh families from
 * before the restore are revoked. Call it in a `write` transaction. Throws DataMissing.
 */
export async function acceptLoss(
  connection: Connection,
  box: string,
  { restoredAt, placedAt, accepted }: Loss,
): Promise<void> {
  const found = await lockVersion(connection, box);
  if ((found ?? placedAt) >= restoredAt) return;
  const version = found ?? 0;
  if (accepted !== version) throw new DataMissing(box, version);
  if (version === 0) return;
  await connection.query('UPDATE boxgate.box SET revoked_before = to_timestamp($2 / 1000000.0) WHERE box = $1', [
    box,
    restoredAt,
  ]);
  await connection.query(
    "INSERT INTO boxgate.revocation (box, subject, version) VALUES ($1, 'box:before', $2) ON CONFLICT DO NOTHING",
    [box, Math.floor(restoredAt / 1_000)],
  );
  await connection.query(
    "UPDATE boxgate.refresh_family SET ended_at = now(), ended_as = 'revoked' WHERE box = $1 AND ended_at IS NULL",
    [box],
  );
  await bumpVersion(connection, box);
}

/** Error of a box whose database was restored from a backup, until an admin accepts what is left of it. */
export class DataMissing extends Error {
  override readonly name = 'DataMissing';

  constructor(box: string, version: number) {
    const left = version === 0 ? 'nothing is left of it' : `what is left of it has the version ${String(version)}`;
    super(
      `The database of box ${box} was restored from a backup, and ${left}: restore a newer backup, or accept the loss by ` +
        `the annotation boxgate.dev/accept-data-loss: "${String(version)}" on the Namespace`,
    );
  }
}

/** A host of a box, and the cluster that assigned it. */
export interface AssignedHost {
  readonly host: string;
  readonly cluster: string;
}

/** Returns the hosts that a database has for a box. Throws Outage. */
export function readHosts(pool: Connections, box: string): Promise<readonly AssignedHost[]> {
  return inBoxInTransit(pool, box, { mode: 'snapshot', limit: requestLimit }, async (connection) => {
    return (await connection.query<AssignedHost>('SELECT host, cluster FROM boxgate.box_host')).rows;
  });
}

/** Replaces the hosts that a database has for a box, as long as the box is there in this state. Throws Outage. */
export async function replaceHosts(
  pool: Connections,
  box: string,
  transit: 'moved' | 'arriving',
  hosts: readonly AssignedHost[],
): Promise<void> {
  await inBoxInTransit(pool, box, { mode: 'write', limit: requestLimit }, async (connection) => {
    const held = 'SELECT FROM boxgate.box WHERE box = $1 AND transit = $2 FOR SHARE';
    if ((await connection.query(held, [box, transit])).rowCount === 0) return;
    await connection.query('DELETE FROM boxgate.box_host');
    await connection.query(
      'INSERT INTO boxgate.box_host (host, box, cluster) SELECT n.host, $1, n.cluster FROM unnest($2::text[], $3::text[]) AS n (host, cluster)',
      [box, hosts.map(({ host }) => host), hosts.map(({ cluster }) => cluster)],
    );
  });
}

function placedBox({ box, database, version }: PlacedRow): PlacedBox {
  return { box, database, version: Number(version) };
}
