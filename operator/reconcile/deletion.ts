import type { ApplyResult } from '../../api/client/desired-state.ts';
import { doubtRows, replaceRows, type DeletionCache, type KnownRow, type StoredState } from './box-cache.ts';
import type { Kind } from '../../crds/kind.ts';
import type { PassContext, BoxPass } from './box-pass.ts';
import { declarerOf } from '../desired/declared.ts';
import { contested, contests, rowKey, type Candidate } from '../desired/desired.ts';
import { releaseRetained } from '../secrets/forget.ts';
import { notReleased } from '../desired/source.ts';
import { isLocked } from './statuses.ts';
import { isWanted, removalLine, removalsOf, type Removal } from './plan.ts';

/** Removals made before anything else in a pass. */
export interface Deletions {
  readonly removed: readonly Removal[];
  /** Row keys of removals that were not confirmed; this pass does not ask again. */
  readonly open: ReadonlySet<string>;
}

/**
 * Removes the rows of deleted and terminating objects before anything else in a pass, then releases the objects that
 * waited for this. It needs no Secret and nothing that is still declared, so these cannot delay a deletion. An id that
 * another object has now is left to the plan, which passes it on in one call. Throws what the API or the source throws,
 * and the failure to assign hosts, before it sends anything.
 */
export async function removeDeleted(pass: BoxPass): Promise<Deletions> {
  const { box, listing, candidates, cache, context, hostsFailure } = pass;
  const { stored, deletions } = cache;
  const going = context.source.finalizers?.terminating(box) ?? [];
  deletions.missing = 0;
  deletions.hasPending = going.length > 0;
  if (hostsFailure !== undefined) throw hostsFailure;
  if (stored.certainty !== 'matched' && (going.length > 0 || contests(candidates, stored.rows).size > 0))
    await listStoredRows(pass);
  deletions.hasPending = going.length > 0 || !isEachDeclared(stored.rows, candidates);
  if (!deletions.hasPending) return { removed: [], open: new Set() };
  const there = uidsOf(candidates);
  const contenders = contested(candidates, stored.rows);
  const taken = new Set(contenders.filter(isWanted).map(({ validated }) => validated.rowKey));
  const due = removalsOf(contenders, stored.rows, listing.complete).filter(
    ({ row, declarer }) => !there.has(declarer.uid) && !taken.has(rowKey(row)),
  );
  const confirmed = await confirmedRemovals(pass, due);
  const removed = confirmed.length === 0 ? confirmed : await remove(pass, confirmed);
  await removeFinalizers(pass);
  deletions.hasPending = false;
  const done = new Set(removed);
  return { removed, open: new Set(due.filter((one) => !done.has(one)).map(({ row }) => rowKey(row))) };
}

/** Returns the removals made. A locked box is reported by the next call, which carries the admin's decision, if any. */
export function deletionsOf(removal: PromiseSettledResult<Deletions>): Deletions {
  if (removal.status === 'fulfilled') return removal.value;
  if (isLocked(removal.reason)) return { removed: [], open: new Set() };
  throw removal.reason;
}

function isEachDeclared(rows: StoredState['rows'], candidates: readonly Candidate[]): boolean {
  const there = uidsOf(candidates);
  return [...rows.values()].every(({ declarer }) => there.has(declarer.uid));
}

function uidsOf(candidates: readonly Candidate[]): ReadonlySet<string> {
  return new Set(candidates.map(({ object }) => object.uid));
}

/** Releases the objects whose deletion waited for their rows, if these are gone. */
export async function removeFinalizers({ box, cache, context, signal }: BoxPass): Promise<void> {
  const { source } = context;
  const { stored } = cache;
  const going = source.finalizers?.terminating(box) ?? [];
  if (going.length === 0 || stored.certainty !== 'matched') return;
  const declarers = new Set([...stored.rows.values()].map(({ declarer }) => declarer.uid));
  const free = going.filter(({ uid }) => !declarers.has(uid));
  if (free.length === 0) return;
  await source.finalizers?.remove(box, free, signal);
  const refused = source.finalizers?.refusals(box);
  for (const { kind, namespace, name, uid } of free) {
    const message = refused?.get(uid);
    if (message === undefined) continue;
    const object = { kind, namespace, name, uid };
    context.events.record({ object, type: 'Warning', reason: 'FinalizerRefused', message: notReleased(message) });
  }
}

/** Reads all rows of this cluster in the box, without comparing them with what is declared now. */
async function listStoredRows(pass: BoxPass): Promise<void> {
  const { stored } = pass.cache;
  const before = stored.rows;
  const rows = new Map<string, KnownRow>();
  for (const { kind, id, owner, retain = false } of await pass.api.apply(true, [])) {
    if (owner === undefined) continue;
    const key = rowKey({ kind, id });
    const known = before.get(key);
    const isSame = known?.declarer.uid === owner.uid;
    rows.set(
      key,
      isSame ? { ...known, retain } : { kind, id, declarer: declarerOf(owner), digest: undefined, retain, faults: [] },
    );
  }
  replaceRows(stored, rows);
}

async function remove(pass: BoxPass, removals: readonly Removal[]): Promise<readonly Removal[]> {
  // Before the row loses its owner: afterwards nobody could tell whose secret it is.
  const free = await releaseRetained(pass.secrets, pass.candidates, removals);
  const lines = free.map(removalLine);
  for (const result of await pass.api.apply(false, lines)) noteRemoval(result, pass.cache.stored);
  return free;
}

function noteRemoval(result: ApplyResult, stored: StoredState): void {
  const key = rowKey(result);
  stored.rows.delete(key);
  if (result.result === 'retained') stored.undeclaredLinks.set(key, true);
  else stored.undeclaredLinks.delete(key);
  // Somebody else has the row now: the database must be compared again.
  if (result.result === 'conflict') doubtRows(stored);
}

/** Part of a pass that confirms removals. */
export interface RemovalConfirmer {
  readonly box: string;
  readonly cache: {
    readonly stored: { readonly rows: ReadonlyMap<string, unknown> };
    readonly deletions: DeletionCache;
  };
  readonly context: Pick<PassContext, 'source' | 'events' | 'isMuchMissing'>;
  readonly signal: AbortSignal;
}

/**
 * Returns the removals that may be carried out, see {@link confirmed}. If a kind is deleted as a whole, the rows stay
 * without an owner: the definition was deleted, and nobody decided on the single object (decision 16).
 */
export async function confirmedRemovals(
  pass: RemovalConfirmer,
  removals: readonly Removal[],
): Promise<readonly Removal[]> {
  const { context, signal } = pass;
  const found = await confirmed(pass, removals);
  const { isKindGoing } = context.source;
  if (isKindGoing === undefined) return found;
  const kinds = new Set(found.filter(({ confirm }) => confirm).map(({ row }) => row.kind));
  const going = new Set<Kind>();
  for (const kind of kinds) if (await isKindGoing(kind, signal)) going.add(kind);
  return found.map((one) => (one.confirm && going.has(one.row.kind) ? { ...one, retain: true } : one));
}

/**
 * Returns the removals that may be carried out: if an object was merely not found, a read past every cache must not
 * find it either. If that read does not confirm many missing objects as gone, in this box or in all boxes together, the
 * list is wrong. Nothing that it lacks is then removed until that is over (decision 16).
 */
async function confirmed(pass: RemovalConfirmer, removals: readonly Removal[]): Promise<readonly Removal[]> {
  const { box, cache, signal } = pass;
  const { source } = pass.context;
  const questions = new Map(
    removals
      .filter(({ confirm }) => confirm)
      .map((removal) => [removal, { kind: removal.row.kind, name: removal.declarer.name, uid: removal.declarer.uid }]),
  );
  if (questions.size === 0) return removals;
  const gone = await source.confirmGone(box, [...questions.values()], signal);
  const isGone = (removal: Removal): boolean => {
    const question = questions.get(removal);
    return question === undefined || gone.has(question);
  };
  const left = removals.filter((removal) => !isGone(removal));
  cache.deletions.missing += left.length;
  if (!isListWrong(left, pass)) return removals.filter(isGone);
  // The cluster itself has reported these as being deleted.
  const going = new Set(source.finalizers?.terminating(box).map(({ uid }) => uid));
  return removals.filter((one) => !questions.has(one) || (going.has(one.declarer.uid) && isGone(one)));
}

function isListWrong(left: readonly Removal[], { cache, context }: RemovalConfirmer): boolean {
  const { rows } = cache.stored;
  const { events, isMuchMissing } = context;
  const isWrongHere = isMassDeletion({ missing: left.length, rows: rows.size });
  if (!isWrongHere && !isMuchMissing()) return false;
  const [first] = left;
  if (first === undefined) return true;
  const { row, declarer } = first;
  const elsewhere = isWrongHere ? '' : ', and so are many of other boxes';
  const message = `${String(left.length)} of ${String(rows.size)} objects are missing in a list of the cluster and are not gone${elsewhere}: nothing that it lacks is removed until that is over`;
  const object = { kind: row.kind, ...declarer };
  events.record({ object, type: 'Warning', reason: 'ManyVanished', message });
  return true;
}

/** Number of objects that lists of the cluster lack: in a box, or in all of them (decision 16). */
export interface Missing {
  /** Rows whose objects are in no list, and which a read does not confirm as gone. */
  readonly missing: number;
  /** Number of all rows. */
  readonly rows: number;
}

/** Checks whether more is missing than an edit of one file, or a namespace with few objects, can explain. */
export function isMassDeletion({ missing, rows }: Missing): boolean {
  return missing > Math.max(10, rows / 5);
}

/** Returns the sum over all boxes. */
export function inAllBoxes(
  boxes: Iterable<{
    readonly deletions: { readonly missing: number };
    readonly stored: { readonly rows: ReadonlyMap<string, unknown> };
  }>,
): Missing {
  let [missing, rows] = [0, 0];
  for (const box of boxes) {
    missing += box.deletions.missing;
    rows += box.stored.rows.size;
  }
  return { missing, rows };
}
