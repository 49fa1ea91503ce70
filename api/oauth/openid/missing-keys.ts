import type { BoxState } from '../../state/box-state.ts';
import type { SigningAlgorithm } from '../../state/key-ring.ts';
import type { MissingKey } from '../keys/key-needed.ts';
import { idTokenAlgorithm } from './id-token.ts';

/**
 * Returns the keys that a box may need for signing and does not have: one of its own algorithm, if it has no key at
 * all, and one for the id_tokens of each client that users sign in to. `now` in milliseconds.
 */
export function missingKeys(
  state: Pick<BoxState, 'keys' | 'clients' | 'settings'>,
  now: number,
): readonly MissingKey[] {
  const wanted = new Set<SigningAlgorithm>();
  if (state.keys.all.length === 0) wanted.add(state.settings.signing?.algorithm ?? 'ES256');
  for (const { client } of state.clients.values()) {
    const signsIn = client.grant_types.some((grant) => grant === 'authorization_code' || grant === 'implicit');
    if (signsIn && client.active !== false) wanted.add(idTokenAlgorithm(client));
  }
  const missing = [...wanted].filter((algorithm) => state.keys.signing(algorithm, now) === undefined);
  return missing.map((algorithm) => ({ algorithm, until: Math.floor(now / 1000) }));
}
