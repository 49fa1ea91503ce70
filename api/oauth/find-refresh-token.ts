import { familyHash, parseRefreshToken } from '../credentials/refresh-token-text.ts';
import type { RefreshToken } from '../credentials/refresh-token-text.ts';
import type { HotStatements, Versioned } from '../db/hot-statements.ts';
import { lockFamily } from '../db/refresh-family.ts';
import type { RefreshFamily } from '../db/refresh-family.ts';
import type { BoxState } from '../state/box-state.ts';
import type { Transaction } from '../state/state-cache.ts';
import { judgeRefresh } from './judge-refresh.ts';
import type { OAuthServices } from './services.ts';

/** A living refresh family, found by one of its tokens. */
export interface FoundFamily {
  readonly family: RefreshFamily;
  /** Whether that token could be used now: not one that was rotated away. */
  readonly usable: boolean;
}

/**
 * Whether a family lives on whose tokens share this one's secret: a place in a batch, so that a forged token costs no
 * transaction. Says nothing of whether this token still counts. Throws Outage.
 */
export function isOfFamily(token: RefreshToken, box: string, statements: HotStatements): Promise<Versioned<boolean>> {
  return statements.family({ box, id: token.family, hash: familyHash(token) });
}

/** The living family of a refresh token, undefined when there is none. Uses nothing up. Throws Outage. */
export async function findRefreshToken(
  text: string,
  state: BoxState,
  statements: HotStatements,
  transaction: Transaction,
  services: OAuthServices,
): Promise<Versioned<FoundFamily | undefined>> {
  const presented = parseRefreshToken(text);
  if (presented === undefined) return { version: await statements.version(state.box), value: undefined };
  const known = await isOfFamily(presented, state.box, statements);
  if (!known.value) return { version: known.version, value: undefined };
  return transaction(async (connection) => {
    const family = await lockFamily(connection, state.box, presented.family);
    const client = family && state.clients.get(family.client);
    if (family === undefined || client === undefined || client.client.active === false) return undefined;
    const verdict = judgeRefresh(family, presented, client, state, services.now());
    return verdict === 'refused' ? undefined : { family, usable: verdict !== 'reused' };
  });
}
