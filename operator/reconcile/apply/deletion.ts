import type { ApplyResult } from '../../../api/client/desired-state.ts';
import type { KnownRow, StoredState } from '../stored-state.ts';
import { confirmedRemovals } from './confirm-removals.ts';
import { declarerOf } from '../../desired/declared.ts';
import { contested, isAnyContested, rowKey, type Candidate } from '../../desired/desired.ts';
import { releaseRetained } from '../../secrets/forget.ts';
import type { BoxPass } from '../box-pass.ts';
import { inTurn } from '../large-turns.ts';
import { notReleased } from '../finalizers.ts';
import { isLocked } from '../outcome.ts';
import { areAllOwn, isWanted, removalLine, removalsOf, type Removal } from './plan.ts';

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
  if (!stored.isSynced && (going.length > 0 || isAnyContested(candidates))) await listStoredRows(pass);
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
  if (areAllOwn(candidates, rows)) return true;
  const there = uidsOf(candidates);
  return [...rows.values()].every(({ declarer }) => there.has(declarer.uid));
}

function uidsOf(candidates: readonly Candidate[]): ReadonlySet<string> {
  return new Set(candidates.map(({ object }) => object.uid));
}

/** Releases the objects whose deletion waited for their rows, if these are gone; large ones in turns of the box. */
export async function removeFinalizers({ box, cache, large, context, signal }: BoxPass): Promise<void> {
  const { source } = context;
  const { stored } = cache;
  const going = source.finalizers?.terminating(box) ?? [];
  if (going.length === 0 || !stored.isSynced) return;
  const declarers = new Set([...stored.rows.values()].map(({ declarer }) => declarer.uid));
  const free = going.filter(({ uid }) => !declarers.has(uid));
  const released = inTurn(free, large);
  if (released.length === 0) return;
  await source.finalizers?.remove(box, released, signal);
  const refused = source.finalizers?.refusals(box);
  for (const { kind, namespace, name, uid } of released) {
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
  stored.replaceRows(rows);
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
  stored.deleteRow(key);
  stored.setUndeclaredLink(key, result.result === 'retained' ? true : undefined);
  // Somebody else has the row now: the database must be compared again.
  if (result.result === 'conflict') stored.markUnsynced();
}
