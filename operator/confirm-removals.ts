import type { PassContext } from './pass-context.ts';
import type { Removal } from './plan.ts';

/**
 * Those removals that may be done: where an object was merely not found, a look past every cache must not find it either.
 * Where many are missing of which that look does not say that they are gone, the list is wrong, and nothing that it lacks
 * is removed until each of them is confirmed (HARDENING F-10). `rows`: how many the box has.
 */
export async function confirmedRemovals(
  box: string,
  removals: readonly Removal[],
  rows: number,
  { source, events }: PassContext,
  signal: AbortSignal,
): Promise<readonly Removal[]> {
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
  const [first] = left;
  if (first === undefined || left.length <= mostMissing(rows)) return removals.filter(isGone);
  const { row, declarer } = first;
  const object = { kind: row.kind, ...declarer };
  const message = `${String(left.length)} of ${String(rows)} objects are missing in a list of the cluster and are not gone: nothing that it lacks is removed until that is over`;
  events.record({ object, type: 'Warning', reason: 'ManyVanished', message });
  // Of these the cluster itself said that they are going.
  const going = new Set(source.holds?.going(box).map(({ uid }) => uid));
  return removals.filter((one) => !questions.has(one) || (going.has(one.declarer.uid) && isGone(one)));
}

/** So many may be missing without anybody wondering: an edit of one file, a namespace with little in it. */
function mostMissing(rows: number): number {
  return Math.max(10, rows / 5);
}
