import type { Engine } from '../../../crds/access-policy.ts';
import type { CompileCost } from '../compile-cost.ts';
import type { RequestObject } from '../request-object.ts';
import type { Steps } from '../steps.ts';

/**
 * A compiled rule: true grants. It may throw; the caller treats that as false, so that a rule that fails denies. It
 * takes `steps` in proportion to its work.
 */
export type Rule = (request: RequestObject, steps: Steps) => boolean;

/** The fields of a policy, or of one rule of `complex`, as they are stored: an engine trusts none of their types. */
export interface RuleFields {
  readonly engine: unknown;
  readonly schema?: unknown;
  readonly matcho?: unknown;
  readonly expression?: unknown;
  readonly and?: unknown;
  readonly or?: unknown;
}

/** One way to decide. `compile` throws `PolicyFault` for a rule that cannot be used, also for one beyond the `cost`. */
export interface RuleEngine {
  readonly name: Engine;
  readonly compile: (fields: RuleFields, cost: CompileCost) => Rule;
}

/** Thrown by a rule whose policy must not grant, whatever its other rules decide. */
export class PolicyEnded extends Error {
  override readonly name = 'PolicyEnded';
}
