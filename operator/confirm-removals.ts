import type { PassContext } from './pass-context.ts';
import type { Removal } from './plan.ts';

/** Those removals that may be done: where an object was merely not found, a look past every cache must not find it either. */
export async function confirmedRemovals(
  box: string,
  removals: readonly Removal[],
  { source }: PassContext,
  signal: AbortSignal,
): Promise<readonly Removal[]> {
  const questions = new Map(
    removals
      .filter(({ confirm }) => confirm)
      .map((removal) => [removal, { kind: removal.row.kind, name: removal.declarer.name, uid: removal.declarer.uid }]),
  );
  if (questions.size === 0) return removals;
  const gone = await source.confirmGone(box, [...questions.values()], signal);
  return removals.filter((removal) => {
    const question = questions.get(removal);
    return question === undefined || gone.has(question);
  });
}
