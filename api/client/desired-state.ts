import type { AccessPolicy } from '../../crds/access-policy.ts';
import type { Box } from '../../crds/box.ts';
import type { Client } from '../../crds/client.ts';
import type { Fault } from '../../crds/fault.ts';
import type { Kind } from '../../crds/kind.ts';

/*
 * The wire of the management port: how declared objects reach the API.
 *
 * POST /boxes/<box>/apply   one call, one transaction. Request: ApplyHead, then one ApplyLine a line (NDJSON).
 *                           Answer: any number of ApplyProgress, one ApplyResult for each line (and one for each
 *                           undeclared row of a complete call), then ApplyEnd: Applied, or NotApplied.
 * POST /epoch               EpochClaim -> ClaimedEpoch
 * GET /boxes?cluster=…      -> DeclaredBoxes
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
}

/** Names one row of a box. */
export interface RowName {
  readonly kind: Kind;
  readonly id: string;
}

/** The row is to be so. A Client's `secret` absent: the stored one is kept. */
export interface DeclareLine extends RowName {
  readonly owner: Owner;
  /** A row of this id that nobody owns is taken over; its sessions are revoked. Absent: that is a conflict. */
  readonly adopt?: true;
  /** When the owner goes, the row goes on without one. Absent: it is deleted. */
  readonly retain?: true;
  /** Keyed digest of the resource and its secret, hexadecimal; stored with the row. */
  readonly digest: string;
  readonly resource: Client | AccessPolicy | Box;
}

/** Is the row still so? Answered `unchanged` or `needed`. */
export interface CompareLine extends RowName {
  readonly owner: Owner;
  readonly adopt?: true;
  readonly digest: string;
}

/** The row is to go, if this owner has it; one that is to be retained only loses its owner. */
export interface DeleteLine extends RowName {
  readonly owner: Owner;
  readonly delete: true;
}

/** Is there such a row, whoever made it? Answered `exists` or `absent`. */
export interface ProbeLine extends RowName {
  readonly probe: true;
}

/** One line of an apply call after the head. */
export type ApplyLine = DeclareLine | CompareLine | DeleteLine | ProbeLine;

/** What became of one line; `undeclared` is about a row that no line of a complete call named. */
export const APPLY_VERDICTS = [
  'created',
  'updated',
  'unchanged',
  'deleted',
  'retained',
  'absent',
  'needed',
  'exists',
  'conflict',
  'invalid',
  'undeclared',
] as const;

/** One of {@link APPLY_VERDICTS}. */
export type ApplyVerdict = (typeof APPLY_VERDICTS)[number];

/** The answer to one line. */
export interface ApplyResult extends RowName {
  readonly result: ApplyVerdict;
  /** Of `invalid`: what is wrong. Of a stored policy: why its rule cannot be used and grants nothing. */
  readonly faults?: readonly Fault[];
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

/** Why a call did nothing: a later epoch was claimed; Postgres is away or busy; a fault of the API itself. */
export type ManagementErrorCode = 'fenced' | 'unavailable' | 'bug';

/** Last line of an apply call that did nothing, and the body of any other refusal. */
export interface NotApplied {
  readonly error: string;
  readonly code: ManagementErrorCode;
}

/** Body of `POST /epoch`. */
export interface EpochClaim {
  readonly cluster: string;
}

/** Answer of `POST /epoch`. */
export interface ClaimedEpoch {
  readonly epoch: number;
}

/** A box in which a cluster declares something, and how many rows. */
export interface DeclaredBox {
  readonly box: string;
  readonly resources: number;
}

/** Answer of `GET /boxes?cluster=…`. */
export interface DeclaredBoxes {
  readonly boxes: readonly DeclaredBox[];
}
