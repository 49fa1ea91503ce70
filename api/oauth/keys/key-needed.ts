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
export function keyOf(state: StateWithKeys, algorithm: SigningAlgorithm, lifetime: number, now: number): SigningKey {
  const key = readyKeyOf(state, algorithm, lifetime, now);
  if (key === undefined) throw new KeyNeeded({ algorithm, until: endOf(lifetime, now) }, state.settings);
  return key;
}

/** Returns the same key; undefined if it has to be created first. */
export function readyKeyOf(
  { keys }: Pick<BoxState, 'keys'>,
  algorithm: SigningAlgorithm,
  lifetime: number,
  now: number,
): SigningKey | undefined {
  const key = keys.signing(algorithm, now);
  return key !== undefined && key.signedUntil >= endOf(lifetime, now) * 1000 ? key : undefined;
}

/** Returns when a token of `lifetime` seconds ends that is issued now; `now` in milliseconds, the end in seconds. */
function endOf(lifetime: number, now: number): number {
  return Math.floor(now / 1000) + lifetime;
}
