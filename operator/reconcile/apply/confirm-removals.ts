import type { Kind } from '../../../crds/kind.ts';
import { isMassDeletion } from '../../desired/mass-deletion-guard.ts';
import type { DeletionCache } from '../box-cache.ts';
import type { PassContext } from '../pass-context.ts';
import type { Removal } from './plan.ts';

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
