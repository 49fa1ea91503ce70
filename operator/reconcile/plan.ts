import type { DeleteLine, RowName } from '../../api/client/desired-state.ts';
import type { KnownRow } from './box-cache.ts';
import { objectKey, ownerOf, type Identity } from '../desired/declared.ts';
import { intentOf, rowKey, type Contender, type Desired } from '../desired/desired.ts';
import type { Refusal } from '../status/reconcile-result.ts';

/** A row to remove. */
export interface Removal {
  readonly row: RowName;
  readonly declarer: Identity;
  /** True if its object was not found, which another look must confirm; otherwise the object itself says so. */
  readonly confirm: boolean;
  /** True if the row only loses its owner. */
  readonly retain: boolean;
}

/** Returns the line of a removal in an apply call. */
export function removalLine({ row, declarer, retain }: Removal): DeleteLine {
  return { ...row, owner: ownerOf(declarer), delete: true, ...(retain ? { retain } : {}) };
}

/** Changes that make the rows match the declarations. */
export interface Plan {
  readonly declare: readonly Desired[];
  readonly remove: readonly Removal[];
}

/** Input of a plan. */
export interface Situation {
  readonly desired: readonly Desired[];
  /** By row key: the rows of this cluster in the database. */
  readonly rows: ReadonlyMap<string, KnownRow>;
  /** By object key; an object that was refused in this very form is not tried again. */
  readonly refusals: ReadonlyMap<string, Refusal>;
  /** False if undeclared objects may still exist: then none of their rows is removed. */
  readonly complete: boolean;
  /** Row keys of objects that could not be confirmed as gone: the rows stay. */
  readonly open?: ReadonlySet<string>;
}

/** Compares the declarations with the rows. Pure: the same situation results in the same plan. */
export function planOf(situation: Situation): Plan {
  const { desired, rows, refusals } = situation;
  const due = removalsOf(desired, rows, situation.complete);
  const remove = due.filter(({ row }) => situation.open?.has(rowKey(row)) !== true);
  const removed = new Set(remove.map(({ row }) => rowKey(row)));
  const declare = desired.filter((one) => {
    const key = one.validated.rowKey;
    return isDue(one, rows.get(key), removed.has(key), refusals.get(one.object.key));
  });
  return { declare, remove };
}

/** Returns the rows to remove, because nobody wants them any more or another object does. */
export function removalsOf(
  contenders: readonly Contender[],
  rows: Situation['rows'],
  complete: boolean,
): readonly Removal[] {
  const wanted = new Map(contenders.filter(isWanted).map((one) => [one.validated.rowKey, one]));
  const objects = new Map(contenders.map((one) => [one.object.key, one]));
  const remove: Removal[] = [];
  for (const [key, row] of rows) {
    const removal = removalOf(row, wanted.get(key), objects, complete);
    if (removal !== undefined) remove.push(removal);
  }
  return remove;
}

/** Checks whether an object wants its row: not if an older one has the id. */
export function isWanted({ loses }: Contender): boolean {
  return loses === undefined;
}

function removalOf(
  row: KnownRow,
  wanted: Contender | undefined,
  objects: ReadonlyMap<string, Contender>,
  complete: boolean,
): Removal | undefined {
  const { kind, id, declarer, retain } = row;
  // A row that was adopted with its cluster or namespace has no uid: the object of that name is its owner.
  if (wanted !== undefined && [wanted.object.uid, ''].includes(declarer.uid)) return undefined;
  const object = objects.get(objectKey({ kind, name: declarer.name }));
  // A faulty object may mean another id than the one that we can read: nothing of it is removed.
  if ((object?.validated.faults.length ?? 0) > 0) return undefined;
  // An object with another uid is a different one of the same name, or our list is outdated.
  const confirm = object?.object.uid !== declarer.uid;
  if (confirm && !complete) return undefined;
  return { row: { kind, id }, declarer, confirm, retain };
}

function isDue(one: Desired, row: KnownRow | undefined, isRemoved: boolean, refusal: Refusal | undefined): boolean {
  const intent = intentOf(one);
  if (intent === 'none' || intent === 'leave') return false;
  if (refusal?.digest === one.digest && !isRemoved) return false;
  if (isRemoved) return intent === 'declare';
  return row === undefined ? intent === 'declare' : row.digest !== one.digest;
}

/** Characters of the declarations of one call: it ends with the object that reaches them. */
const longestCall = 1_048_576;

/** The changes of one call, and the objects that a later one declares. */
export interface NextCall extends Plan {
  /** Object keys. */
  readonly left: ReadonlySet<string>;
}

/**
 * Returns the changes that the next call carries: the Box first, then each object, the oldest first, because beyond a
 * quota the API refuses the later ones. A row that passes to an object that is left stays until then, so that it never
 * disappears. Pure.
 */
export function nextCall({ declare, remove }: Plan): NextCall {
  const hasBox = declare.some(({ object }) => object.kind === 'Box');
  const rank = (one: Desired): number => (hasBox && goesWithBox(one) ? 0 : 1);
  const ordered = declare.toSorted((one, other) => rank(one) - rank(other) || compareAges(one, other));
  let [end, length] = [0, 0];
  for (; end < ordered.length && length < longestCall; end += 1) length += ordered[end]?.object.length ?? 0;
  const left = ordered.slice(end);
  const passed = new Set(left.map(({ validated }) => validated.rowKey));
  return {
    declare: ordered.slice(0, end),
    remove: remove.filter(({ row }) => !passed.has(rowKey(row))),
    left: new Set(left.map(({ object }) => object.key)),
  };
}

/** The policy and the group of the first admin: the API stores each with a Box unless the box has one of this name. */
const ofAdmins: readonly string[] = ['AccessPolicy/admins', 'Group/admins'];

function goesWithBox({ object, validated }: Desired): boolean {
  return object.kind === 'Box' || ofAdmins.includes(validated.rowKey);
}

function compareAges({ object: { created } }: Desired, { object: other }: Desired): number {
  return created < other.created ? -1 : created > other.created ? 1 : 0;
}
