import { Outage } from '../../db/core/outage.ts';
import type { Decision } from '../../state/state-cache.ts';
import type { OAuthServices } from '../services.ts';
import { KeyNeeded } from './key-needed.ts';

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
