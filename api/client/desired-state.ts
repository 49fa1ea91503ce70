import type { AccessPolicy } from '../../crds/access-policy.ts';
import type { Box } from '../../crds/box.ts';
import type { Client } from '../../crds/client.ts';
import type { Fault } from '../../crds/fault.ts';
import type { Kind } from '../../crds/kind.ts';
import type { Link } from '../../crds/links.ts';
import type { Quota, QuotaName } from '../../crds/quota.ts';

/*
 * The wire of the management port: how declared objects reach the API.
 *
 * POST /boxes/<box>/apply   one call, one transaction. Request: ApplyHead, then one ApplyLine a line (NDJSON).
 *                           Answer: any number of ApplyProgress, one ApplyResult for each line (and one for each
 *                           undeclared row of a complete call), then ApplyEnd: Applied, or NotApplied. Lines are taken
 *                           in their order: where a quota ends, the later ones are refused.
 * PUT /hosts                BoxHostsCall -> StoredHosts, before the boxes that it names are applied
 * POST /epoch               EpochClaim -> ClaimedEpoch
 * GET /boxes?cluster=…      -> DeclaredBoxes
 * GET /boxes/<box>/usage?cluster=…   -> BoxUsage
 * POST /boxes/<box>/missing-links    LinkedNames -> MissingLinks
 * POST /boxes/<box>/service-accounts ServiceAccountsCall -> ServiceAccountPins (service-accounts.ts)
 */

/** The object that declares a row: `namespace/name`, and the uid that tells it from a later object of that name. */
export interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** First line of an apply call. */
export interface ApplyHead {
  /** Which installation declares: rows of other clusters are not ours. */
  readonly cluster: string;
  /** The epoch that was claimed; refused as `fenced` once somebody has claimed a later one. */
  readonly epoch: number;
  /** The lines name everything that this cluster declares in the box: rows beyond them come back as `undeclared`. */
  readonly complete: boolean;
  /** The namespace that the box is; absent where there are none (a folder). */
  readonly namespace?: NamespaceClaim;
  /**
   * The namespace of the box is not there: the cluster itself has said so of that very name. From then on the box serves
   * nothing and has no host, until a call names the namespace that it is bound to, or one that adopts it.
   */
  readonly missing?: true;
  /** Quotas that the Namespace sets; a name that is missing has its default. Absent: those that are stored remain. */
  readonly quota?: Partial<Quota>;
}

/**
 * The namespace whose box this is. A box is bound to the uid of its namespace at the first call that names one. A call
 * with another uid is refused as `locked`, and from then on so is the box: no token of it is accepted, none is issued,
 * until an admin has decided by one of the two words below.
 */
export interface NamespaceClaim {
  readonly uid: string;
  /** The uid that the box is bound to: it is bound to `uid` from now on, with everything that was there. */
  readonly adopt?: string;
  /** The uid that the box is bound to: what was there ends for good, and then the box is bound to `uid`. */
  readonly discard?: string;
}

/** Names one row of a box. */
export interface RowName {
  readonly kind: Kind;
  readonly id: string;
}

/** The row is to be so. A Client's `secret` absent: the stored one is kept, and the previous one beside it. */
export interface DeclareLine extends RowName {
  readonly owner: Owner;
  readonly adopt?: Adoption;
  /** When the owner goes, the row goes on without one. Absent: it is deleted. */
  readonly retain?: true;
  /** Of a Box: when the owner goes, all data of the box goes with it. Absent: only its settings. */
  readonly purge?: true;
  /** Of a Client: a second secret that is valid too. Absent beside a secret: there is none, whatever was there. */
  readonly previous?: PreviousSecret;
  /** Of a Box: the first admin, who is made once. Absent: nobody is made. */
  readonly bootstrap_admin?: BootstrapAdmin;
  /** Keyed digest of the resource and its secret, hexadecimal; stored with the row. */
  readonly digest: string;
  readonly resource: Client | AccessPolicy | Box;
}

/**
 * Whose row is taken over, its sessions revoked: `unowned`, one that nobody owns; `force`, that too, and one of an object
 * of this cluster that is gone. Only the caller can know that: it looks for the owner that a `conflict` names, and sends
 * a delete of its row before the declare, in one call. Absent: an id that is there is a conflict.
 */
export type Adoption = 'unowned' | 'force';

/** Who is to be made in a box as its first admin, unless that was done before; an existing user is left alone. */
export interface BootstrapAdmin {
  readonly email: string;
  readonly password: string;
}

/** The secret that a client had before its present one. */
export interface PreviousSecret {
  /**
   * Absent: the generated one that is stored; for a caller that has forgotten it. A line that is sent again keeps the same
   * one, as the present secret must be a generated one, which is told from what is stored.
   */
  readonly secret?: string;
  /** RFC 3339: from then on it is not valid. NO_END: it is the one that applications have, and the present one was shown to nobody. */
  readonly until: string;
}

/** Is the row still so? Answered `unchanged` or `needed`. */
export interface CompareLine extends RowName {
  readonly owner: Owner;
  readonly adopt?: Adoption;
  readonly digest: string;
}

/** The row is to go, if this owner has it; one that is to be retained, by what was declared or by this line, only loses its owner. */
export interface DeleteLine extends RowName {
  readonly owner: Owner;
  readonly delete: true;
  readonly retain?: true;
}

/** One line of an apply call after the head. */
export type ApplyLine = DeclareLine | CompareLine | DeleteLine;

/** What became of one line; `undeclared` is about a row that no line of a complete call named. */
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
  /** Of `invalid`: what is wrong. Of a stored policy: why its rule grants nothing. Of a stored client: why the keys of its `jwks_uri` are not fetched. Of a stored Box: the hosts that it does not have. */
  readonly faults?: readonly Fault[];
  /** Of `invalid`: the quota of the box that the line exceeds. Nothing is wrong with the resource itself. */
  readonly quota?: QuotaName;
  /** Of `conflict`: who has the row, for people: `owned by …`. */
  readonly detail?: string;
  /**
   * Of `undeclared`, and of `conflict` when the row is this cluster's: the object that declared it, to be looked for
   * once more and named in a delete. Lines work in their order, so a delete of the old owner's row may go before the
   * declare of the new one in the same call.
   */
  readonly owner?: Owner;
  /** With `owner`: its row is to be retained when it goes. */
  readonly retain?: true;
  /** Of a complete call: somebody changed the row past the service, in SQL, or made it there. */
  readonly changed?: true;
}

/** While secrets are being hashed. */
export interface ApplyProgress {
  readonly progress: { readonly done: number; readonly of: number };
}

/** Last line of an apply call that is committed. */
export interface Applied {
  readonly box: string;
  readonly config_version: number;
}

/**
 * Why a call did nothing: a later epoch was claimed; Postgres is away or busy; the box is bound to another namespace; a
 * fault of the API itself.
 */
export type ManagementErrorCode = 'fenced' | 'unavailable' | 'locked' | 'bug';

/** Last line of an apply call that did nothing, and the body of any other refusal. */
export interface NotApplied {
  readonly error: string;
  readonly code: ManagementErrorCode;
  /** Of `locked`: the uid of the namespace that the box is bound to. */
  readonly bound?: string;
}

/** Body of `POST /epoch`. */
export interface EpochClaim {
  readonly cluster: string;
  /**
   * Id of an older installation whose rows and boxes become this one's, all of them, with this claim: of a cluster that
   * is rebuilt over its database. Its own epoch is claimed too, so that nothing of it can be applied any more.
   */
  readonly adopts?: string;
}

/** Answer of `POST /epoch`. */
export interface ClaimedEpoch {
  readonly epoch: number;
}

/** A box in which a cluster declares something, and how many rows; or one that is bound to a namespace of the cluster. */
export interface DeclaredBox {
  readonly box: string;
  readonly resources: number;
  /** Its namespace is missing. */
  readonly missing?: true;
}

/** What policies of a box link: body of `POST /boxes/<box>/missing-links`. */
export interface LinkedNames {
  readonly links: readonly Link[];
}

/** Those of the links whose Client, User or Group is not in the box, whoever made it. */
export interface MissingLinks {
  readonly missing: readonly Link[];
}

/** Answer of `GET /boxes?cluster=…`. */
export interface DeclaredBoxes {
  readonly boxes: readonly DeclaredBox[];
}

/** When a client was last used. */
export interface ClientLastUse {
  readonly id: string;
  /** RFC 3339, to the minute: when it last got a token. */
  readonly last_token_at?: string;
  /** RFC 3339, to the minute: when its previous secret was last used. */
  readonly previous_secret_last_used?: string;
}

/** Answer of `GET /boxes/<box>/last-use?cluster=…`: all clients that this cluster declares. */
export interface LastUses {
  readonly clients: readonly ClientLastUse[];
}

/** How much a client is used. */
export interface ClientUsage extends ClientLastUse {
  /** At most {@link MOST_COUNTED}, which stands for that many or more. */
  readonly live_sessions: number;
}

/** Sessions are counted up to here: of each client so many are looked at, those that end last. */
export const MOST_COUNTED = 10_000;

/** Answer of `GET /boxes/<box>/usage?cluster=…&after=…`: a portion of the clients that this cluster declares, by id. */
export interface BoxUsage {
  readonly clients: readonly ClientUsage[];
  readonly users: number;
  /** `after` of the next portion; absent in the last one. */
  readonly next?: string;
}
