import { quotaOf } from '../../../crds/quota.ts';
import type { Quota } from '../../../crds/quota.ts';
import { storedQuota } from './box-use.ts';
import { builtInFrom } from '../resource/resource.ts';
import type { PreviousSecret } from '../resource/resource.ts';
import type { Connection } from '../core/transaction.ts';

/** A client, policy or Box as its row holds it. */
export interface ResourceRow {
  readonly kind: 'AccessPolicy' | 'Box' | 'Client';
  readonly id: string;
  readonly version: number;
  readonly sessionsFrom: number;
  /** Milliseconds since 1970. */
  readonly revokedBefore: number | undefined;
  readonly body: unknown;
  readonly secrets: readonly string[];
  readonly previous: PreviousSecret | undefined;
  /** True if an object declares it: the row has an owner. */
  readonly isManaged: boolean;
}

/** A signing key as its row holds it; times in milliseconds since 1970. */
export interface SigningKeyRow {
  readonly kid: string;
  readonly algorithm: 'ES256' | 'RS256' | 'EdDSA';
  readonly publicJwk: unknown;
  readonly privateKey: Buffer;
  readonly activeFrom: number;
  readonly retiredAt: number | undefined;
  readonly signedUntil: number;
}

/** Changes of a box's configuration after a version. */
export interface ConfigChanges {
  readonly version: number;
  /** True if this is the whole box, not only the changes: anything missing here does not exist. */
  readonly complete: boolean;
  readonly sessionsFrom: number;
  /** Milliseconds since 1970. */
  readonly revokedBefore: number | undefined;
  /** True if another namespace claims the box: it is not served until an admin decides. */
  readonly locked: boolean;
  readonly quota: Quota;
  /** True if the box has as many active sessions as its quota allows. */
  readonly sessionsFull: boolean;
  /** True while the box is being moved to another database: a transaction tells whether it may be written. */
  readonly leaving: boolean;
  /** Clients and policies of the box, and the bytes of its configuration as JSON. */
  readonly resources: number;
  readonly bytes: number;
  /** Version in which a stored client with the ID of a built-in one was last deleted; 0: none ever was. */
  readonly builtInFrom: number;
  readonly changed: readonly ResourceRow[];
  readonly deleted: readonly { readonly kind: string; readonly id: string }[];
  /** All keys, always: they are few. */
  readonly keys: readonly SigningKeyRow[];
}

/** Error for a box that takes more memory than a replica allows for one: it is not served. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/**
 * Reads the changes of a box after version `since`, or the whole box if that is not one of its recent versions (0 never
 * is); undefined if there is no such box, or its namespace is missing. Throws TooLarge before it reads a box of more
 * than `most` bytes. Call it in a `snapshot` transaction, or in one that holds the box's row.
 */
export async function readConfigChanges(
  connection: Connection,
  box: string,
  since: number,
  most = Infinity,
): Promise<ConfigChanges | undefined> {
  const { rows } = await connection.query<{
    version: string;
    sessions_from: string;
    revoked_before: Date | null;
    locked: boolean;
    quota: unknown;
    sessions_full: boolean;
    leaving: boolean;
    built_in_from: string;
    resources: string;
    bytes: string;
    known: boolean;
  }>(
    `SELECT b.config_version AS version, b.sessions_from, b.revoked_before, b.locked_for IS NOT NULL AS locked, b.quota, b.sessions_full,
            b.transit IS NOT NULL AS leaving,
            ${builtInFrom('b.box')} AS built_in_from, coalesce(u.bytes, 0) AS bytes,
            coalesce(u.clients + u.policies, 0) AS resources,
            b.config_version >= $2 AND EXISTS (SELECT FROM boxgate.box_version v WHERE v.box = b.box AND v.version = $2)
              AS known
       FROM boxgate.box b LEFT JOIN boxgate.box_use u ON u.box = b.box
      WHERE b.box = $1 AND b.missing_since IS NULL`,
    [box, since],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  if (Number(row.bytes) > most)
    throw new TooLarge(`box ${box} has ${row.bytes} bytes of configuration; a replica takes ${String(most)}`);
  return {
    version: Number(row.version),
    complete: !row.known,
    sessionsFrom: Number(row.sessions_from),
    revokedBefore: row.revoked_before?.getTime(),
    locked: row.locked,
    quota: quotaOf(storedQuota(row.quota)),
    sessionsFull: row.sessions_full,
    leaving: row.leaving,
    builtInFrom: Number(row.built_in_from),
    resources: Number(row.resources),
    bytes: Number(row.bytes),
    changed: await readChanged(connection, box, row.known ? since : 0),
    deleted: row.known ? await readDeleted(connection, box, since) : [],
    keys: await readSigningKeyRows(connection, box),
  };
}

async function readChanged(connection: Connection, box: string, since: number): Promise<readonly ResourceRow[]> {
  const { rows } = await connection.query<{
    kind: ResourceRow['kind'];
    id: string;
    version: string;
    sessions_from: string;
    revoked_before: Date | null;
    body: unknown;
    secrets: string[];
    previous_secret: string | null;
    previous_until: Date | null;
    managed: boolean;
  }>(
    `SELECT kind, id, version, sessions_from, revoked_before, body, secrets,
            previous_secret, previous_until, owner_cluster IS NOT NULL AS managed
       FROM boxgate.resource WHERE box = $1 AND version > $2`,
    [box, since],
  );
  return rows.map((row) => ({
    kind: row.kind,
    id: row.id,
    version: Number(row.version),
    sessionsFrom: Number(row.sessions_from),
    revokedBefore: row.revoked_before?.getTime(),
    body: row.body,
    secrets: row.secrets,
    previous: previousOf(row.previous_secret, row.previous_until),
    isManaged: row.managed,
  }));
}

function previousOf(stored: string | null, until: Date | null): PreviousSecret | undefined {
  return stored === null || until === null ? undefined : { stored, until: until.getTime() };
}

async function readDeleted(connection: Connection, box: string, since: number): Promise<ConfigChanges['deleted']> {
  const { rows } = await connection.query<{ kind: string; id: string }>(
    'SELECT kind, id FROM boxgate.tombstone WHERE box = $1 AND version > $2',
    [box, since],
  );
  return rows;
}

/** Reads the signing keys of a box, oldest first. */
export async function readSigningKeyRows(connection: Connection, box: string): Promise<readonly SigningKeyRow[]> {
  const { rows } = await connection.query<{
    kid: string;
    algorithm: SigningKeyRow['algorithm'];
    public_jwk: unknown;
    private_key: Buffer;
    active_from: Date;
    retired_at: Date | null;
    signed_until: Date;
  }>(
    `SELECT kid, algorithm, public_jwk, private_key, active_from, retired_at, signed_until
       FROM boxgate.signing_key WHERE box = $1 ORDER BY active_from, kid`,
    [box],
  );
  return rows.map((row) => ({
    kid: row.kid,
    algorithm: row.algorithm,
    publicJwk: row.public_jwk,
    privateKey: row.private_key,
    activeFrom: row.active_from.getTime(),
    retiredAt: row.retired_at?.getTime(),
    signedUntil: row.signed_until.getTime(),
  }));
}
