import { createTurns } from '../../program/scheduling.ts';
import type { CompiledPolicy } from './compile.ts';
import { isMore } from './needs.ts';
import type { Needs } from './needs.ts';

/** Parts that are missing before the candidates can decide: those of the request, or compiled policies. */
export class Missing {
  /** The most that any candidate looks at. */
  readonly needs: Needs;
  readonly uncompiled: readonly CompiledPolicy[];

  constructor(needs: Needs, uncompiled: readonly CompiledPolicy[]) {
    this.needs = needs;
    this.uncompiled = uncompiled;
  }
}

/** Milliseconds for which candidates are compiled at once; the rest is compiled in between other requests. */
const LONGEST_COMPILING = 5;

/** Compiles the candidates; returns what is missing after 5 ms, or because they look at more than is known. */
export function prepare(
  candidates: readonly CompiledPolicy[],
  known: Needs,
  now = () => performance.now(),
): Missing | undefined {
  const end = now() + LONGEST_COMPILING;
  const uncompiled: CompiledPolicy[] = [];
  let needs = known;
  for (const policy of candidates) {
    if (isMore(policy.needs, needs)) needs = policy.needs;
    if (policy.isCompiled) continue;
    if (now() < end) policy.compile();
    else uncompiled.push(policy);
  }
  return needs === known && uncompiled.length === 0 ? undefined : new Missing(needs, uncompiled);
}

/**
 * Repeats an attempt until nothing is missing. It begins again, because a right may be withdrawn while policies are
 * compiled and the request is read. Throws what the attempt and `read` throw.
 */
export async function whenPrepared<T>(
  attempt: () => Promise<T | Missing>,
  read?: (needs: Needs) => Promise<void>,
): Promise<T> {
  for (;;) {
    const result = await attempt();
    if (!(result instanceof Missing)) return result;
    await compileAhead(result.uncompiled);
    await read?.(result.needs);
  }
}

/** Compiles policies one after the other; other requests have their turn in between. Never throws. */
export async function compileAhead(policies: readonly CompiledPolicy[]): Promise<void> {
  const turn = createTurns();
  for (const policy of policies) {
    policy.compile();
    await turn();
  }
}
