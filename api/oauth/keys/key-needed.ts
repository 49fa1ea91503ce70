import type { Box } from '../../../crds/box.ts';
import type { BoxState } from '../../box/box-state.ts';
import type { SigningAlgorithm, SigningKey } from '../../box/key-ring.ts';
import { Refusal } from '../../box/state-cache.ts';
import type { AccessTokenPlan } from '../token/plan.ts';
import { Outage } from '../../db/core/outage.ts';
import type { Decision } from '../../box/state-cache.ts';
import type { OAuthServices } from '../services.ts';
import type { MissingKey } from './plan-keys.ts';

/** Limit of rounds that may make a key. An access token and an id_token need two, unless settings change meanwhile. */
const keyRounds = 4;

/**
 * Decides under the box's present configuration; when the decision throws {@link KeyNeeded}, creates that signing key
 * and decides again. Undefined when there is no such box. Throws Outage, and any other error of the decision.
 */
export async function decideWithKey<T>(
  box: string,
  { states, keys, now }: Pick<OAuthServices, 'states' | 'keys' | 'now'>,
  decision: Decision<T>,
): Promise<T | undefined> {
  for (let round = 0; round < keyRounds; round += 1) {
    try {
      return await states.decide(box, decision);
    } catch (error) {
      if (!(error instanceof KeyNeeded)) throw error;
      await keys.upkeep(box, error.settings, now(), error.key);
    }
  }
  throw new Outage('no signing key could be made');
}

/** Signal that a JWT cannot be signed yet: {@link decideWithKey} creates the key and repeats the decision. */
class KeyNeeded extends Refusal {
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
