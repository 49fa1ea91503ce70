import type { Fault } from '../../crds/fault.ts';
import type { Resource } from '../../crds/validate.ts';
import type { Adoption, RowName } from './desired-state.ts';

/*
 * POST /$plan, on the public port of a box: the effect of a desired state, without any change.
 *
 * Request: newline-delimited JSON (application/x-ndjson). Each line is `{"object": PlannedObject}`, or `{"request": …}`
 * with a question as `$explain` takes it, whose subject may have a `group` in place of a user. The objects are
 * everything that is declared in the box: rows that an object declared and that none of them declares would be deleted.
 * Answer: PlanAnswer.
 */

/** An object of the desired state. */
export interface PlannedObject extends RowName {
  /** Name of the object, which owns the row. */
  readonly name: string;
  readonly adopt?: Adoption;
  readonly retain?: true;
  readonly purge?: true;
  /** The row stays as it is. */
  readonly suspended?: true;
  /**
   * The resource. A Client's `secret` is the value if the desired state has it, null if the client should have none,
   * and otherwise absent: the stored secret stays, and a new client gets one.
   */
  readonly resource: Resource;
}

/** Caller of a planned request: a client, a user with or without one, or some user of a group or of none. */
export interface PlannedSubject {
  readonly client?: string;
  readonly user?: number;
  /** Name of a group; the request is that of some user in it. */
  readonly group?: string;
  /** Only in an answer: some user, who is in no group or whose token does not carry the rights of its user. */
  readonly any_user?: true;
}

/** Effect of a desired state on a box. */
export interface PlanAnswer {
  readonly box: string;
  readonly resources: readonly PlannedChange[];
  /** Clients whose secret changes. */
  readonly secrets: readonly string[];
  /**
   * Clients whose given secret was not compared, because too many were or too many differed. It counts as unchanged.
   */
  readonly secrets_not_compared: readonly string[];
  /** Active sessions that would end. */
  readonly sessions: readonly PlannedEnd[];
  /** True if there are more sessions than are listed. */
  readonly more_sessions: boolean;
  readonly decisions: readonly PlannedDecision[];
  /** Requests that were compared: those of the call, and those of the record. */
  readonly compared: { readonly given: number; readonly recorded: number };
}

/** Results of a planned object or row. */
export type PlannedResult = 'created' | 'changed' | 'deleted' | 'released' | 'conflict' | 'invalid';

/** A row that would change, or an object that would be refused. */
export interface PlannedChange extends RowName {
  readonly result: PlannedResult;
  /** For `changed`: names of the fields; `owner` if another object would have the row. */
  readonly fields?: readonly string[];
  /** For `invalid`; otherwise of parts that would have no effect. */
  readonly faults?: readonly Fault[];
  /** For `conflict`. */
  readonly detail?: string;
}

/** An active session whose token would no longer be accepted. */
export interface PlannedEnd {
  readonly id: string;
  readonly client: string;
  readonly user?: number;
  /** RFC 3339. */
  readonly created_at: string;
}

/** A request whose decision would change. */
export interface PlannedDecision {
  readonly effect: 'gained' | 'lost';
  readonly subject: PlannedSubject;
  readonly app?: string;
  readonly method: string;
  readonly path: string;
  /** The policy that grants it: before, for `lost`; after, for `gained`. */
  readonly policy: string;
  readonly from: 'given' | 'recorded';
  /** False if the policies looked at parts of recorded requests that are not recorded. */
  readonly certain: boolean;
}
