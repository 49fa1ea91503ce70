import type { BatchedStatements, Versioned } from '../../db/batched-statements.ts';
import type { BoxState } from '../../state/box-state.ts';
import { OAuthError } from '../oauth-error.ts';

/**
 * Turns a refusal into a value that carries the box's config version, read after the decision: a refusal, too, is only
 * given under the present configuration.
 */
export async function refusable<T>(
  state: BoxState,
  statements: BatchedStatements,
  work: () => Promise<Versioned<T>>,
): Promise<Versioned<T | OAuthError>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OAuthError) return { version: await statements.version(state.box), value: error };
    throw error;
  }
}
