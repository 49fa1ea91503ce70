import { createTurns } from '../../process/turns.ts';
import type { CompiledPolicy } from './compile.ts';

/** Compiles policies one after the other; other requests have their turn in between. Never throws. */
export async function compileAhead(policies: readonly CompiledPolicy[]): Promise<void> {
  const turn = createTurns();
  for (const policy of policies) {
    policy.compile();
    await turn();
  }
}

/** Most policies that are compiled before a decision is tried: the first of them often grants. */
const MOST_AT_ONCE = 50;

/** Returns the next of the policies that are not compiled yet, in their order. */
export function uncompiled(policies: Iterable<CompiledPolicy>): readonly CompiledPolicy[] {
  const found: CompiledPolicy[] = [];
  for (const policy of policies) {
    if (!policy.isCompiled) found.push(policy);
    if (found.length === MOST_AT_ONCE) break;
  }
  return found;
}
