import type { BatchedStatements, Versioned } from '../../db/batched-statements.ts';
import { Outage } from '../../db/core/outage.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { Transaction } from '../../state/state-cache.ts';
import { isKeyNeeded } from './access-token.ts';
import type { KeyNeeded } from './access-token.ts';
import type { OAuthServices } from '../services.ts';

/** Limit of rounds that may make a key. An access token and an id_token need two, unless settings change meanwhile. */
const keyRounds = 4;

/**
 * Decides under the box's present configuration; when the decision is that a signing key is needed, makes one and
 * decides again. Undefined when there is no such box. Throws Outage.
 */
export async function decideWithKey<T extends object>(
  box: string,
  services: OAuthServices,
  attempt: (
    state: BoxState,
    statements: BatchedStatements,
    transaction: Transaction,
  ) => Promise<Versioned<T | KeyNeeded>>,
): Promise<T | undefined> {
  for (let round = 0; round < keyRounds; round += 1) {
    const decided = await services.states.decide(box, async (state, statements, transaction) => {
      const { version, value } = await attempt(state, statements, transaction);
      return { version, value: isKeyNeeded(value) ? { needed: value, settings: state.settings } : { value } };
    });
    if (decided === undefined) return undefined;
    if ('value' in decided) return decided.value;
    await services.keys.upkeep(box, decided.settings, services.now(), decided.needed);
  }
  throw new Outage('no signing key could be made');
}
