import Type, { type Static } from 'typebox';
import { listOf } from '../../crds/fields.ts';
import { KINDS } from '../../crds/kind.ts';
import { LINK_TYPES } from '../../crds/links.ts';
import { HIGHEST_QUOTA, QUOTA_DEFAULTS, type QuotaName } from '../../crds/quota.ts';
import { PASSWORD_BYTES } from '../../crds/secret-text.ts';
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
 * POST /boxes/<box>/service-accounts ServiceAccountsCall -> ServiceAccountPins (cluster.ts)
 *
 * Each type is that of a schema, by which the API reads calls, and its callers read answers.
 */

/** A text that names something. */
export const text = Type.String({ minLength: 1, maxLength: 512 });

/** The first members of every call that changes something. */
export const callMembers = {
  /** The declaring installation: rows of other clusters are not its own. */
  cluster: text,
  /** The claimed epoch; refused as `fenced` once a later one has been claimed. */
  epoch: Type.Integer({ minimum: 1 }),
};

const yes = Type.Optional(Type.Literal(true));

const ownerSchema = Type.Object({ name: text, uid: Type.String({ maxLength: 512 }) });

/** The object that declares a row: `namespace/name`, and the uid that tells it apart from later ones of that name. */
export type Owner = Readonly<Static<typeof ownerSchema>>;

const namespaceClaim = Type.Object({
  uid: text,
  /** The uid that the box is bound to: the call binds it to `uid`, with all its data. */
  adopt: Type.Optional(text),
  /** The uid that the box is bound to: the call deletes its data for good, and then binds it to `uid`. */
  discard: Type.Optional(text),
  /**
   * The config version of what a restored backup has left of the box, 0 for nothing: an admin accepts that. Until then
   * the call is refused as `data-missing`.
   */
  accept_data_loss: Type.Optional(Type.Integer({ minimum: 0 })),
});

/**
 * The namespace whose box this is. A box is bound to the uid of its namespace at the first call that names one. A call
 * with another uid is refused as `locked`, and from then on so is the box: no token of it is accepted, none is issued,
 * until an admin has decided by one of the fields `adopt` and `discard`.
 */
export type NamespaceClaim = Readonly<Static<typeof namespaceClaim>>;

const limit = Type.Integer({ minimum: 0, maximum: HIGHEST_QUOTA });
const quotaNames = Type.Unsafe<QuotaName>(Type.Enum(Object.keys(QUOTA_DEFAULTS)));

/** First line of an apply call. */
export const applyHead = Type.Object({
  ...callMembers,
  /** True if the lines name all that this cluster declares in the box: other rows are returned as `undeclared`. */
  complete: Type.Boolean(),
  /** The namespace that the box is; absent if there are none (a folder). */
  namespace: Type.Optional(namespaceClaim),
  /**
   * True if the namespace of the box does not exist: the cluster has confirmed that for its name. From then on the box
   * serves nothing and has no host, until a call names the namespace that it is bound to, or one that adopts it.
   */
  missing: yes,
  /** The database that the Namespace wants for the box. Absent: the default one for a new box, otherwise its own. */
  database: Type.Optional(text),
  /** Quotas that the Namespace sets; a missing name has its default. Absent: the stored ones stay. */
  quota: Type.Optional(Type.Partial(Type.Record(quotaNames, limit))),
});

/** See {@link applyHead}. */
export type ApplyHead = Readonly<Static<typeof applyHead>>;

const rowName = { kind: Type.Enum(Object.values(KINDS).map((names) => names.kind)), id: text };

/** Names one row of a box; a Group by its name. */
export type RowName = Pick<DeleteLine, keyof typeof rowName>;

const adoption = Type.Enum(['unowned', 'force']);

/**
 * Rows to take over: `unowned`, one without an owner; `force`, also one of an object of this cluster that no longer
 * exists. Only the caller can know that: it looks up the owner that a `conflict` names, and sends a delete of its row
 * before the declare, in one call. The sessions of a client are revoked, and the members of a group stay. Absent: an
 * existing id is a conflict.
 */
export type Adoption = Static<typeof adoption>;

const bootstrapAdmin = Type.Object({
  email: text,
  password: Type.String({ minLength: 1, maxLength: PASSWORD_BYTES }),
});

/** The first admin to create in a box, unless that was done before; an existing user is not changed. */
export type BootstrapAdmin = Readonly<Static<typeof bootstrapAdmin>>;

const previousSecret = Type.Object({
  /**
   * Absent: the generated one that is stored; for a caller that has forgotten it. A repeated line keeps the same
   * one, because the current secret must be a generated one, which can be compared with the stored one.
   */
  secret: Type.Optional(text),
  /** RFC 3339: from then on it is invalid. NEVER: applications use it, and the current one was never shown. */
  until: Type.String({ maxLength: 64 }),
});

/** The secret of a client before its current one. */
export type PreviousSecret = Readonly<Static<typeof previousSecret>>;

/** A question whether the row is unchanged. Answered `unchanged` or `needed`. */
export const compareLine = Type.Object({
  ...rowName,
  owner: ownerSchema,
  /** Keyed digest of the resource and its secret, hexadecimal; stored with the row. */
  digest: text,
  adopt: Type.Optional(adoption),
});

/** The desired row. A Client's `secret` absent: the stored one is kept, and so is the previous one. */
export const declareLine = Type.Object({
  ...compareLine.properties,
  /** Keeps the row, without an owner, when the owner is deleted. Absent: it is deleted. */
  retain: yes,
  /** Deletes all data of a Box when its owner is deleted. Absent: only its settings. */
  purge: yes,
  /** A second valid secret of a Client. Absent next to a secret: there is none, whatever is stored. */
  previous: Type.Optional(previousSecret),
  /** The first admin of a Box, created once. Absent: none is created. */
  bootstrap_admin: Type.Optional(bootstrapAdmin),
  /** Only known to be an object here: `validateLine` checks it against its schema before any use. */
  resource: Type.Unsafe<Resource>(Type.Object({})),
});

/** See {@link declareLine}. */
export type DeclareLine = Readonly<Static<typeof declareLine>>;

/** Deletes the row if it has this owner; one to be retained, as declared or by this line, only loses its owner. */
export const deleteLine = Type.Object({ ...rowName, owner: ownerSchema, delete: Type.Literal(true), retain: yes });

/** See {@link deleteLine}. */
export type DeleteLine = Readonly<Static<typeof deleteLine>>;

/** One line of an apply call after the head. */
export type ApplyLine = DeclareLine | Readonly<Static<typeof compareLine>> | DeleteLine;

const fault = Type.Object({ path: Type.String(), message: Type.String() });

/** The answer to one line; `undeclared` is about a row that no line of a complete call named. */
export const applyResult = Type.Object({
  ...rowName,
  result: Type.Enum([
    ...(['created', 'updated', 'unchanged', 'deleted', 'retained', 'absent'] as const),
    ...(['needed', 'conflict', 'invalid', 'undeclared'] as const),
  ]),
  /**
   * For `invalid`: the faults. For a stored policy: the reason why its rule grants nothing. For a stored client: the
   * reason why the keys of its `jwks_uri` are not fetched. For a stored Box: the hosts that it does not have.
   */
  faults: Type.Optional(listOf(fault)),
  /** For `invalid`: the quota of the box that the line exceeds. The resource itself is valid. */
  quota: Type.Optional(quotaNames),
  /** For `conflict`: the owner of the row, for people: `owned by …`. */
  detail: Type.Optional(Type.String()),
  /**
   * For `undeclared`, and for `conflict` if the row is this cluster's: the object that declared it, to be looked up
   * again and named in a delete. Lines are handled in their order, so a delete of the old owner's row may precede the
   * declare of the new one in the same call.
   */
  owner: Type.Optional(ownerSchema),
  /** With `owner`: its row is to be retained when it is deleted. */
  retain: yes,
});

/** See {@link applyResult}. */
export type ApplyResult = Readonly<Static<typeof applyResult>>;

/** Progress while secrets are hashed, or the users of a box that ends are deleted. */
export const applyProgress = Type.Object({ progress: Type.Object({ done: Type.Number(), of: Type.Number() }) });

/** See {@link applyProgress}. */
export type ApplyProgress = Readonly<Static<typeof applyProgress>>;

/** Last line of an apply call that is committed. */
export const applied = Type.Object({
  box: Type.String(),
  config_version: Type.Number(),
  /** The database that the box is in. */
  database: Type.String(),
});

/** See {@link applied}. */
export type Applied = Readonly<Static<typeof applied>>;

/** Last line of an apply call that did nothing, and the body of any other refusal. */
export interface NotApplied {
  readonly error: string;
  /**
   * Reason why a call did nothing: a later epoch was claimed; Postgres is unreachable or busy; the box is bound to
   * another namespace; it wants a database that there is not; its database was restored from a backup, and an admin has
   * not accepted that; the call itself is wrong; a bug of the API.
   */
  readonly code: 'fenced' | 'unavailable' | 'locked' | 'unknown-database' | 'data-missing' | 'refused' | 'bug';
  /** For `locked`: the uid of the namespace that the box is bound to. */
  readonly bound?: string;
}

/** Body of `POST /boxes/<box>/move`, with the database that the box is to be in; it may be repeated at any time. */
export const moveCall = Type.Object({ ...callMembers, database: text });

/** See {@link moveCall}. */
export type MoveCall = Readonly<Static<typeof moveCall>>;

/** Answer of `POST /boxes/<box>/move`: the box is in the database. */
export const movedBox = Type.Object({ database: Type.String(), moved: Type.Literal(true) });

/** See {@link movedBox}. */
export type MovedBox = Readonly<Static<typeof movedBox>>;

const clusterName = Type.String({ pattern: '^[A-Za-z0-9._-]{1,128}$' });

/** Body of `POST /epoch`. */
export const epochClaim = Type.Object({
  cluster: clusterName,
  /**
   * Id of an older installation all of whose rows and boxes this claim transfers to the new one: for a cluster that
   * is rebuilt over its database. Its own epoch is claimed too, so that none of its calls is applied any more.
   */
  adopts: Type.Optional(clusterName),
});

/** See {@link epochClaim}. */
export type EpochClaim = Readonly<Static<typeof epochClaim>>;

/** Answer of `POST /epoch`. */
export const claimedEpoch = Type.Object({ epoch: Type.Number() });

/** See {@link claimedEpoch}. */
export type ClaimedEpoch = Readonly<Static<typeof claimedEpoch>>;

const declaredBox = Type.Object({
  box: Type.String(),
  resources: Type.Number(),
  /** True if its namespace is missing. */
  missing: yes,
});

/** A box in which a cluster declares something, and its number of rows; or one bound to a namespace of the cluster. */
export type DeclaredBox = Readonly<Static<typeof declaredBox>>;

/** Query of a call about what a cluster declares, and the client after which a portion of its usage begins. */
export const usageQuery = Type.Object({
  cluster: clusterName,
  after: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._~-]{1,128}$' })),
});

/** Answer of `GET /boxes?cluster=…`. */
export const declaredBoxes = Type.Object({ boxes: listOf(declaredBox) });

/** See {@link declaredBoxes}. */
export type DeclaredBoxes = Readonly<Static<typeof declaredBoxes>>;

const links = listOf(Type.Object({ resourceType: Type.Enum([...LINK_TYPES]), id: text }));

/** The links of policies of a box: body of `POST /boxes/<box>/missing-links`. */
export const linkedNames = Type.Object({ links });

/** Those of the links whose Client, User or Group is not in the box, whoever created it. */
export const missingLinks = Type.Object({ missing: links });

/** See {@link missingLinks}. */
export type MissingLinks = Readonly<Static<typeof missingLinks>>;

const lastUse = {
  id: Type.String(),
  /** Time of its last token; RFC 3339, to the minute. */
  last_token_at: Type.Optional(Type.String()),
  /** Time of the last use of its previous secret; RFC 3339, to the minute. */
  previous_secret_last_used: Type.Optional(Type.String()),
};
const clientLastUse = Type.Object(lastUse);

/** Times of a client's last use. */
export type ClientLastUse = Readonly<Static<typeof clientLastUse>>;

/** Answer of `GET /boxes/<box>/last-use?cluster=…`: all clients that this cluster declares. */
export const lastUses = Type.Object({ clients: listOf(clientLastUse) });

/** See {@link lastUses}. */
export type LastUses = Readonly<Static<typeof lastUses>>;

/** Limit of the count of sessions: so many are examined for each client, those that end last. */
export const MOST_COUNTED = 10_000;

const clientUsage = Type.Object({
  ...lastUse,
  /** At most {@link MOST_COUNTED}, which means that many or more. */
  live_sessions: Type.Number(),
});

/** Usage of a client. */
export type ClientUsage = Readonly<Static<typeof clientUsage>>;

const policyLastUse = Type.Object({
  id: Type.String(),
  /** Time at which it last granted a request; RFC 3339, to the hour. */
  last_used_at: Type.String(),
});

/** Last use of a policy. */
export type PolicyLastUse = Readonly<Static<typeof policyLastUse>>;

/** Answer of `GET /boxes/<box>/usage?cluster=…&after=…`: a portion of the clients that this cluster declares, by id. */
export const boxUsage = Type.Object({
  clients: listOf(clientUsage),
  users: Type.Number(),
  /**
   * The groups that this cluster declares with the numbers of their members, as {@link MOST_COUNTED}, in the first
   * portion; of those with very many members the first names.
   */
  groups: listOf(Type.Object({ name: Type.String(), members: Type.Number() })),
  /** The policies that this cluster declares and that have granted a request, in the first portion. */
  policies: listOf(policyLastUse),
  /** `after` of the next portion; absent in the last one. */
  next: Type.Optional(Type.String()),
});

/** See {@link boxUsage}. */
export type BoxUsage = Readonly<Static<typeof boxUsage>>;
