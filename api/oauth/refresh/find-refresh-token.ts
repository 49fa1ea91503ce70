import { familyHash, parseRefreshToken } from '../../credentials/refresh-token-text.ts';
import type { RefreshToken } from '../../credentials/refresh-token-text.ts';
import type { RefreshFamily } from '../../db/session/refresh-family.ts';
import type { BoxState, ClientState } from '../../box/box-state.ts';
import type { CurrentStatements } from '../../box/state-cache.ts';
import type { AuthenticationContext } from '../client-auth/context.ts';
import type { Granted } from '../token/plan.ts';
import { clientOf } from '../built-in-clients.ts';
import { validateRefresh } from './validate-refresh.ts';
import { familyEnd, refreshSettings } from './settings.ts';
import { stillGranted } from '../session/still-granted.ts';

/** A living refresh family, found by one of its tokens. */
export interface FoundFamily {
  readonly family: RefreshFamily;
  /** Grant of a use now; undefined if it was rotated away, or the present settings do not permit its use. */
  readonly gives: (Granted & { readonly endsAt: number }) | undefined;
}

/**
 * Finds the family whose tokens have this one's secret, unless it has ended, in a batch of a shared statement: a forged
 * token costs no transaction. This token itself may still be invalid. Throws Outage.
 */
export function findFamilyOf(
  token: RefreshToken,
  box: string,
  statements: CurrentStatements,
): Promise<RefreshFamily | undefined> {
  return statements.family({ box, id: token.family, hash: familyHash(token) });
}

/** Finds the living family of a refresh token; undefined if there is none. Does not use the token. Throws Outage. */
export async function findRefreshToken(
  text: string,
  { state, statements, services }: Omit<AuthenticationContext, 'checks' | 'transaction'>,
): Promise<FoundFamily | undefined> {
  const presented = parseRefreshToken(text);
  const family = presented && (await findFamilyOf(presented, state.box, statements));
  const client = family && clientOf(state, family.client, services.issuer(state));
  if (presented === undefined || family === undefined || client === undefined) return undefined;
  if (client.client.active === false) return undefined;
  const verdict = validateRefresh(family, { token: presented, client, now: services.now() }, state);
  if (verdict === 'refused') return undefined;
  const isUsable = verdict !== 'reused' && verdict !== 'suspended';
  return { family, gives: isUsable ? givenBy(family, client, state, services.issuer(state)) : undefined };
}

/** Returns the grant of a use. Its end, in milliseconds since 1970, moves with each use. */
function givenBy(
  family: RefreshFamily,
  client: ClientState,
  { settings }: BoxState,
  issuer: string,
): FoundFamily['gives'] {
  const granted = stillGranted(family, client, settings, issuer);
  if (granted === undefined) return undefined;
  const latest = familyEnd(family, refreshSettings(client.client, family.grant), settings);
  return { ...granted, endsAt: Math.min(family.expiresAt, latest) };
}
