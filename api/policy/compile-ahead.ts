import { createTurns } from '../../process/turns.ts';
import type { CompiledPolicy } from './compile.ts';
import type { Candidates, Subject } from './policy-index.ts';

/** Compiles policies one after the other; other requests have their turn in between. Never throws. */
export async function compileAhead(policies: readonly CompiledPolicy[]): Promise<void> {
  const turn = createTurns();
  for (const policy of policies) {
    policy.compile();
    await turn();
  }
}

/** Policies that are compiled before a decision is tried, if it has asked fewer: the first of them often grants. */
const AT_ONCE = 50;

/**
 * Returns the next candidates that are not compiled yet, in their order: as many as were asked before and 50 at least.
 * So the decision over any number of them, which asks all of those again, is repeated a few times only.
 */
export function uncompiled(policies: Candidates, subject: Subject, asked: number): readonly CompiledPolicy[] {
  const most = Math.max(AT_ONCE, asked);
  const found: CompiledPolicy[] = [];
  for (const policy of policies.candidates(subject, ({ isCompiled }) => !isCompiled)) {
    found.push(policy);
    if (found.length === most) break;
  }
  return found;
}
