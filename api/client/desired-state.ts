import type { Fault } from '../../crds/fault.ts';
import type { Kind } from '../../crds/kind.ts';
import type { Link } from '../../crds/links.ts';
import type { Quota, QuotaName } from '../../crds/quota.ts';
import type { Resource } from '../../crds/validate.ts';

/*
 * The protocol of the management port, by which declared objects reach the API.
 *
 * POST /boxes/<box>/apply   one call, one transaction. Request: ApplyHead, then one ApplyLine a line (NDJSON).
 *                           Answer: any number of ApplyProgress, one ApplyResult for each line (and one for each
 *                           undeclared row of a complete call), then ApplyEnd: Applied, or NotApplied. Lines are read
 *                           in their order: once a quota is used up, the later ones are refused.
 * PUT /hosts                BoxHostsCall -> StoredHosts, before the boxes that it names are applied
 * POST /epoch               EpochClaim -> ClaimedEpoch
 * GET /boxes?cluster=…      -> DeclaredBoxes
 * POST /boxes/<box>/move   MoveCall -> MovedBox, once it has been moved
 * GET /boxes/<box>/usage?cluster=…   -> BoxUsage
 * POST /boxes/<box>/missing-links    LinkedNames -> MissingLinks
 * POST /boxes/<box>/service-accounts ServiceAccountsCall -> ServiceAccountPins (service-accounts.ts)
 */

/** The object that declares a row: `namespace/name`, and the uid that tells it apart from later ones of that name. */
export interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** First line of an apply call. */
export interface ApplyHead {
  /** The declaring installation: rows of other clusters are not its own. */
  readonly cluster: string;
  /** The claimed epoch; refused as `fenced` once a later one has been claimed. */
  readonly epoch: number;
  /** True if the lines name all that this cluster declares in the box: other rows are returned as `undeclared`. */
  readonly complete: boolean;
  /** The namespace that the box is; absent if there are none (a folder). */
  readonly namespace?: NamespaceClaim;
  /**
   * True if the namespace of the box does not exist: the cluster has confirmed that for its name. From then on the box
   * serves nothing and has no host, until a call names the namespace that it is bound to, or one that adopts it.
   */
  readonly missing?: true;
  /** The database that the Namespace wants for the box. Absent: the default one for a new box, otherwise its own. */
  readonly database?: string;
  /** Quotas that the Namespace sets; a missing name has its default. Absent: the stored ones stay. */
  readonly quota?: Partial<Quota>;
}

/**
 * The namespace whose box this is. A box is bound to the uid of its namespace at the first call that names one. A call
 * with another uid is refused as `locked`, and from then on so is the box: no token of it is accepted, none is issued,
 * until an admin has decided by one of the two fields below.
 */
export interface NamespaceClaim {
  readonly uid: string;
  /** The uid that the box is bound to: the call binds it to `uid`, with all its data. */
  readonly adopt?: string;
  /** The uid that the box is bound to: the call deletes its data for good, and then binds it to `uid`. */
  readonly discard?: string;
  /**
   * The config version of what a restored backup has left of the box, 0 for nothing: an admin accepts that. Until then
   * the call is refused as `data-missing`.
   */
  readonly accept_data_loss?: number;
}

/** Names one row of a box; a Group by its name. */
export interface RowName {
  readonly kind: Kind;
  readonly id: string;
}

/** The desired row. A Client's `secret` absent: the stored one is kept, and so is the previous one. */
export interface DeclareLine extends RowName {
  readonly owner: Owner;
  readonly adopt?: Adoption;
  /** Keeps the row, without an owner, when the owner is deleted. Absent: it is deleted. */
  readonly retain?: true;
  /** Deletes all data of a Box when its owner is deleted. Absent: only its settings. */
  readonly purge?: true;
  /** A second valid secret of a Client. Absent next to a secret: there is none, whatever is stored. */
  readonly previous?: PreviousSecret;
  /** The first admin of a Box, created once. Absent: none is created. */
  readonly bootstrap_admin?: BootstrapAdmin;
  /** Keyed digest of the resource and its secret, hexadecimal; stored with the row. */
  readonly digest: string;
  readonly resource: Resource;
}

/**
 * Rows to take over: `unowned`, one without an owner; `force`, also one of an object of this cluster that no longer
 * exists. Only the caller can know that: it looks up the owner that a `conflict` names, and sends a delete of its row
 * before the declare, in one call. The sessions of a client are revoked, and the members of a group stay. Absent: an
 * existing id is a conflict.
 */
export type Adoption = 'unowned' | 'force';

/** The first admin to create in a box, unless that was done before; an existing user is not changed. */
export interface BootstrapAdmin {
  readonly email: string;
  readonly password: string;
}

/** The secret of a client before its current one. */
export interface PreviousSecret {
  /**
   * Absent: the generated one that is stored; for a caller that has forgotten it. A repeated line keeps the same
   * one, because the current secret must be a generated one, which can be compared with the stored one.
   */
  readonly secret?: string;
  /** RFC 3339: from then on it is invalid. NEVER: applications use it, and the current one was never shown. */
  readonly until: string;
}

/** A question whether the row is unchanged. Answered `unchanged` or `needed`. */
export interface CompareLine extends RowName {
  readonly owner: Owner;
  readonly adopt?: Adoption;
  readonly digest: string;
}

/** Deletes the row if it has this owner; one to be retained, as declared or by this line, only loses its owner. */
export interface DeleteLine extends RowName {
  readonly owner: Owner;
  readonly delete: true;
  readonly retain?: true;
}

/** One line of an apply call after the head. */
export type ApplyLine = DeclareLine | CompareLine | DeleteLine;

/** Results of one line; `undeclared` is about a row that no line of a complete call named. */
export const APPLY_VERDICTS = [
  'created',
  'updated',
  'unchanged',
  'deleted',
  'retained',
  'absent',
  'needed',
  'conflict',
  'invalid',
  'undeclared',
] as const;

/** One of {@link APPLY_VERDICTS}. */
export type ApplyVerdict = (typeof APPLY_VERDICTS)[number];

/** The answer to one line. */
export interface ApplyResult extends RowName {
  readonly result: ApplyVerdict;
  /**
   * For `invalid`: the faults. For a stored policy: the reason why its rule grants nothing. For a stored client: the
   * reason why the keys of its `jwks_uri` are not fetched. For a stored Box: the hosts that it does not have.
   */
  readonly faults?: readonly Fault[];
  /** For `invalid`: the quota of the box that the line exceeds. The resource itself is valid. */
  readonly quota?: QuotaName;
  /** For `conflict`: the owner of the row, for people: `owned by …`. */
  readonly detail?: string;
  /**
   * For `undeclared`, and for `conflict` if the row is this cluster's: the object that declared it, to be looked up
   * again and named in a delete. Lines are handled in their order, so a delete of the old owner's row may precede the
   * declare of the new one in the same call.
   */
  readonly owner?: Owner;
  /** With `owner`: its row is to be retained when it is deleted. */
  readonly retain?: true;
}

/** Progress while secrets are hashed, or the users of a box that ends are deleted. */
export interface ApplyProgress {
  readonly progress: { readonly done: number; readonly of: number };
}

/** Last line of an apply call that is committed. */
export interface Applied {
  readonly box: string;
  readonly config_version: number;
  /** The database that the box is in. */
  readonly database: string;
}

/**
 * Reason why a call did nothing: a later epoch was claimed; Postgres is unreachable or busy; the box is bound to
 * another namespace; it wants a database that there is not; its database was restored from a backup, and an admin has
 * not accepted that; the call itself is wrong; a bug of the API.
 */
export type NotAppliedCode =
  'fenced' | 'unavailable' | 'locked' | 'unknown-database' | 'data-missing' | 'refused' | 'bug';

/** Last line of an apply call that did nothing, and the body of any other refusal. */
export interface NotApplied {
  readonly error: string;
  readonly code: NotAppliedCode;
  /** For `locked`: the uid of the namespace that the box is bound to. */
  readonly bound?: string;
}

/** Body of `POST /boxes/<box>/move`; it may be repeated at any time. */
export interface MoveCall {
  readonly cluster: string;
  /** The claimed epoch; refused as `fenced` once a later one has been claimed. */
  readonly epoch: number;
  /** The database that the box is to be in. */
  readonly database: string;
}

/** Answer of `POST /boxes/<box>/move`: the box is in the database. */
export interface MovedBox {
  readonly database: string;
  readonly moved: true;
}

/** Body of `POST /epoch`. */
export interface EpochClaim {
  readonly cluster: string;
  /**
   * Id of an older installation all of whose rows and boxes this claim transfers to the new one: for a cluster that
   * is rebuilt over its database. Its own epoch is claimed too, so that none of its calls is applied any more.
   */
  readonly adopts?: string;
}

/** Answer of `POST /epoch`. */
export interface ClaimedEpoch {
  readonly epoch: number;
}

/** A box in which a cluster declares something, and its number of rows; or one bound to a namespace of the cluster. */
export interface DeclaredBox {
  readonly box: string;
  readonly resources: number;
  /** True if its namespace is missing. */
  readonly missing?: true;
}

/** The links of policies of a box: body of `POST /boxes/<box>/missing-links`. */
export interface LinkedNames {
  readonly links: readonly Link[];
}

/** Those of the links whose Client, User or Group is not in the box, whoever created it. */
export interface MissingLinks {
  readonly missing: readonly Link[];
}

/** Answer of `GET /boxes?cluster=…`. */
export interface DeclaredBoxes {
  readonly boxes: readonly DeclaredBox[];
}

/** Times of a client's last use. */
export interface ClientLastUse {
  readonly id: string;
  /** Time of its last token; RFC 3339, to the minute. */
  readonly last_token_at?: string;
  /** Time of the last use of its previous secret; RFC 3339, to the minute. */
  readonly previous_secret_last_used?: string;
}

/** Answer of `GET /boxes/<box>/last-use?cluster=…`: all clients that this cluster declares. */
export interface LastUses {
  readonly clients: readonly ClientLastUse[];
}

/** Usage of a client. */
export interface ClientUsage extends ClientLastUse {
  /** At most {@link MOST_COUNTED}, which means that many or more. */
  readonly live_sessions: number;
}

/** Limit of the count of sessions: so many are examined for each client, those that end last. */
export const MOST_COUNTED = 10_000;

/** Number of members of a declared group. */
export interface GroupUsage {
  readonly name: string;
  /** At most {@link MOST_COUNTED}, which means that many or more. */
  readonly members: number;
}

/** Last use of a policy. */
export interface PolicyLastUse {
  readonly id: string;
  /** Time at which it last granted a request; RFC 3339, to the hour. */
  readonly last_used_at: string;
}

/** Answer of `GET /boxes/<box>/usage?cluster=…&after=…`: a portion of the clients that this cluster declares, by id. */
export interface BoxUsage {
  readonly clients: readonly ClientUsage[];
  readonly users: number;
  /** The groups that this cluster declares, in the first portion; of those with very many members the first names. */
  readonly groups: readonly GroupUsage[];
  /** The policies that this cluster declares and that have granted a request, in the first portion. */
  readonly policies: readonly PolicyLastUse[];
  /** `after` of the next portion; absent in the last one. */
  readonly next?: string;
}
