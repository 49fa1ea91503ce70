import { Problem } from '../../problem.ts';
import { isDeepStrictEqual } from 'node:util';

/**
 * Compares the changes that the policies saw with those that a write finds in its own transaction. Throws
 * {@link ChangedMeanwhile} when they differ: no change is stored without a decision on it.
 */
export type ConfirmChanges = (found: () => readonly string[]) => void;

/** Conditions of a write: the versions that its caller names, and the changes that the policies have granted. */
export interface WriteConditions {
  readonly preconditions: Preconditions;
  readonly confirmChanges?: ConfirmChanges | undefined;
}

/** A record has changed since the policies decided about a change of it: they must decide again. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';

  constructor() {
    super('the record has changed since the request was granted');
  }
}

/** Returns the comparison with the changes that the policies saw; undefined when they looked at none. */
export function confirming(decided: readonly string[] | undefined): ConfirmChanges | undefined {
  if (decided === undefined) return undefined;
  return (found) => {
    if (!isDeepStrictEqual(decided, found())) throw new ChangedMeanwhile();
  };
}

/** Attempts at a change of a record that others change at the same time. */
const mostRounds = 3;

/**
 * Repeats work, including the decision, while others change the record that it changes. Throws Problem `conflict` if
 * they do not stop, and the errors of the work.
 */
export async function untilConfirmed<T>(work: () => Promise<T>): Promise<T> {
  for (let round = 0; round < mostRounds; round += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
    }
  }
  throw new Problem('conflict', 'The record is being changed by others; try again');
}

/** Content of a conditional header: any version, or these. */
export type EntityTags = '*' | readonly string[];

/** The conditions of a request (RFC 9110 §13.1). */
export interface Preconditions {
  readonly ifMatch?: EntityTags | undefined;
  readonly ifNoneMatch?: EntityTags | undefined;
}

/** Returns the ETag header of a version. */
export function entityTag(version: number | string): string {
  return `"${String(version)}"`;
}

/** The conditional headers of a request as they are. */
export interface ConditionalHeaders {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** Reads If-Match and If-None-Match. Throws Problem `bad-request` for a malformed one. */
export function readPreconditions({ ifMatch, ifNoneMatch }: ConditionalHeaders): Preconditions {
  return { ifMatch: readTags('If-Match', ifMatch), ifNoneMatch: readTags('If-None-Match', ifNoneMatch) };
}

/**
 * Reads the tags without their quotes; an empty element is no tag (RFC 9110 §5.6.1). A weak tag is treated as a strong
 * one: some proxies weaken the tags that they forward, and a version is exact in either form.
 */
function readTags(name: string, value: string | undefined): EntityTags | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (text === '*') return '*';
  const parts = text.split(',').filter((part) => part.trim() !== '');
  const tags = parts.map((part) => /^\s*(?:W\/)?"([\x21\x23-\x7e]*)"\s*$/.exec(part)?.[1]);
  if (!tags.every((tag) => tag !== undefined)) {
    throw new Problem('bad-request', `${name} must be * or a list of entity tags such as "17", with their quotes`);
  }
  return tags;
}

/**
 * Compares the conditions with the present version, undefined when there is no such resource. Throws Problem
 * `precondition-failed`. Must be called when nothing else prevents the request (RFC 9110 §13.2.1).
 */
export function demandPreconditions(
  { ifMatch, ifNoneMatch }: Preconditions,
  version: number | string | undefined,
): void {
  if (ifMatch !== undefined && !matches(ifMatch, version)) {
    const now = version === undefined ? 'it does not exist' : `its version is ${entityTag(version)}`;
    throw new Problem('precondition-failed', `If-Match names another version of the resource: ${now}`);
  }
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, version)) {
    throw new Problem('precondition-failed', 'If-None-Match names the version that the resource has');
  }
}

/**
 * Checks whether the caller of a read has its present version: the answer is then 304 (RFC 9110 §13.1.2). Throws
 * Problem `precondition-failed` if `If-Match` names another one (§13.2.2).
 */
export function isKnown({ ifMatch, ifNoneMatch }: Preconditions, version: number | string): boolean {
  demandPreconditions({ ifMatch, ifNoneMatch: undefined }, version);
  return ifNoneMatch !== undefined && matches(ifNoneMatch, version);
}

function matches(tags: EntityTags, version: number | string | undefined): boolean {
  if (version === undefined) return false;
  return tags === '*' || tags.includes(String(version));
}
