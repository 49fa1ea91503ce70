import type { DeleteLine, RowName } from '../api/client/desired-state.ts';
import type { KnownRow } from './box-memory.ts';
import { objectKey, ownerOf, type Identity } from './declared.ts';
import { intentOf, rowKey, type Candidate, type Contender, type Desired } from './desired.ts';
import type { Refusal } from './facts.ts';

/** A row that is to go. */
export interface Removal {
  readonly row: RowName;
  readonly declarer: Identity;
  /** Its object was not found: that must be confirmed by looking once more. Else the object itself says so. */
  readonly confirm: boolean;
  /** It only loses its owner. */
  readonly retain: boolean;
}

/** What is said of a removal in an apply call. */
export function removalLine({ row, declarer, retain }: Removal): DeleteLine {
  return { ...row, owner: ownerOf(declarer), delete: true, ...(retain ? { retain } : {}) };
}

/** What has to be done so that the rows are as declared. */
export interface Plan {
  readonly declare: readonly Desired[];
  readonly remove: readonly Removal[];
}

/** What a plan is made from. */
export interface Situation {
  readonly desired: readonly Desired[];
  /** By row key: what the database has of this cluster. */
  readonly rows: ReadonlyMap<string, KnownRow>;
  /** By object key; what was refused in this very form is not tried again. */
  readonly refusals: ReadonlyMap<string, Refusal>;
  /** False: what is missing among the declared objects may be there all the same, so nothing of it goes. */
  readonly complete: boolean;
  /** Row keys of what was looked for in vain to be gone: it stays. */
  readonly open?: ReadonlySet<string>;
}

/** Compares what is declared with the rows. Pure: the same situation makes the same plan. */
export function planOf(situation: Situation): Plan {
  const { desired, rows, refusals } = situation;
  const due = removalsOf(desired, rows, situation.complete);
  const remove = due.filter(({ row }) => situation.open?.has(rowKey(row)) !== true);
  const removed = new Set(remove.map(({ row }) => rowKey(row)));
  const declare = desired.filter((one) => {
    const key = one.judged.rowKey;
    return isDue(one, rows.get(key), removed.has(key), refusals.get(one.object.key));
  });
  return { declare, remove };
}

/** The rows that are to go, because nobody wants them any more or another object does. */
export function removalsOf(
  contenders: readonly Contender[],
  rows: Situation['rows'],
  complete: boolean,
): readonly Removal[] {
  const wanting = contenders.filter(isWanted);
  if (areAllOwn(wanting, rows)) return [];
  const wanted = new Map(wanting.map((one) => [one.judged.rowKey, one]));
  const objects = new Map(contenders.map((one) => [one.object.key, one]));
  const remove: Removal[] = [];
  for (const [key, row] of rows) {
    const removal = removalOf(row, wanted.get(key), objects, complete);
    if (removal !== undefined) remove.push(removal);
  }
  return remove;
}

/**
 * Whether each row is that of the very object that wants it. Nearly always: then nobody has to be looked up, and of twenty
 * thousand objects no index is made in each pass.
 */
export function areAllOwn(candidates: readonly Candidate[], rows: Situation['rows']): boolean {
  let own = 0;
  for (const { object, judged } of candidates) if (rows.get(judged.rowKey)?.declarer.uid === object.uid) own += 1;
  return own === rows.size;
}

/** Whether an object wants its row: not where an older one has the id. */
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
  // A row that was adopted with its cluster or namespace has no uid: whoever is there under the name is its object.
  if (wanted !== undefined && [wanted.object.uid, ''].includes(declarer.uid)) return undefined;
  const object = objects.get(objectKey({ kind, name: declarer.name }));
  // A faulty object may mean another id than we can read from it: nothing of it goes.
  if ((object?.judged.faults.length ?? 0) > 0) return undefined;
  // One of another uid is a stranger of the same name, or we are the ones who look at old news.
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
