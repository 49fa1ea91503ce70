import type { Box } from '../../../crds/box.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { SigningAlgorithm, SigningKey } from '../../state/key-ring.ts';
import { Refusal } from '../../state/refusal.ts';
import type { AccessTokenPlan } from '../token/plan.ts';

/** A key that a box does not have yet: of this algorithm, for tokens until then (seconds since 1970). */
export interface MissingKey {
  readonly algorithm: SigningAlgorithm;
  readonly until: number;
}

/** Signal that a JWT cannot be signed yet: {@link decideWithKey} creates the key and repeats the decision. */
export class KeyNeeded extends Refusal {
  readonly key: MissingKey;
  readonly settings: Box;

  constructor(key: MissingKey, settings: Box) {
    super('a signing key is needed');
    this.key = key;
    this.settings = settings;
  }
}

type StateWithKeys = Pick<BoxState, 'keys' | 'settings'>;

/**
 * Returns the key that is to sign a planned token; null for an opaque one, which needs none. `now` in milliseconds.
 * Throws KeyNeeded.
 */
export function keyFor(
  state: StateWithKeys,
  plan: Pick<AccessTokenPlan, 'format' | 'lifetime'>,
  now: number,
): SigningKey | null {
  if (plan.format === 'opaque') return null;
  return keyOf(state, state.settings.signing?.algorithm ?? 'ES256', plan.lifetime, now);
}

/** Returns the key of an algorithm that is to sign a token of `lifetime` seconds. `now` in ms. Throws KeyNeeded. */
export function keyOf(
  { keys, settings }: StateWithKeys,
  algorithm: SigningAlgorithm,
  lifetime: number,
  now: number,
): SigningKey {
  const until = Math.floor(now / 1000) + lifetime;
  const key = keys.signing(algorithm, now);
  if (key === undefined || key.signedUntil < until * 1000) throw new KeyNeeded({ algorithm, until }, settings);
  return key;
}
