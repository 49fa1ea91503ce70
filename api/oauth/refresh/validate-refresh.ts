import type { Box } from '../../../crds/box.ts';
import { equal } from '../../credentials/client-secret.ts';
import { familyHash, openSuccessor, tokenHash, parseRefreshToken } from '../../credentials/refresh-token-text.ts';
import type { RefreshToken } from '../../credentials/refresh-token-text.ts';
import type { RefreshFamily } from '../../db/session/refresh-family.ts';
import type { BoxState, ClientState } from '../../box/box-state.ts';
import { familyEnd, isRotating, refreshSettings } from './settings.ts';
import { isRevoked, mayUseGrant, stillGranted } from '../session/still-granted.ts';
import type { CurrentStatements } from '../../box/state-cache.ts';
import type { AuthenticationContext } from '../client-auth/context.ts';
import type { Granted } from '../token/plan.ts';
import { clientOf } from '../built-in-clients.ts';

/**
 * Verdict on a refresh token: `slide` (it stays the token), `rotate` (a successor replaces it), `repeat` (its successor
 * was issued, and is returned once more), `reused` (an old one: somebody else may have it), `suspended` (the present
 * settings of its client or box do not permit its use), `refused`.
 */
export type RefreshVerdict = 'slide' | 'rotate' | 'repeat' | 'reused' | 'suspended' | 'refused';

/** Milliseconds in which a rotated token still gets the same successor: a lost answer signs nobody out. */
export const rotationGrace = 10_000;

/** A refresh token presented by a client, at a time in milliseconds. */
export interface PresentedRefreshToken {
  readonly token: RefreshToken;
  readonly client: ClientState;
  readonly now: number;
}

/** Pure: validates a refresh token of a family for a client of the box. */
export function validateRefresh(
  family: RefreshFamily,
  { token, client, now }: PresentedRefreshToken,
  box: Pick<BoxState, 'sessionsFrom' | 'revokedBefore' | 'settings'>,
): RefreshVerdict {
  if (!equal(family.familyHash, familyHash(token))) return 'refused';
  if (family.client !== client.client.id || !isAlive(family, client, box, now)) return 'refused';
  // Generations, not times: an old token is recognized after a restart, and within the same second too (T-42).
  if (token.generation > family.generation) return 'refused';
  const isOld = token.generation < family.generation;
  if (isOld && successorOf(family, token, now) === undefined) return 'reused';
  if (!isOld && !equal(family.tokenHash, tokenHash(token))) return 'refused';
  if (!isPermitted(family, client, box.settings, now)) return 'suspended';
  if (isOld) return 'repeat';
  return isRotating(client, family.grant) ? 'rotate' : 'slide';
}

/** Checks the present settings, which apply even if the family began under others (docs/reference/tokens.md). */
function isPermitted(family: RefreshFamily, { client }: ClientState, box: Box, now: number): boolean {
  const settings = refreshSettings(client, family.grant);
  return (
    settings.refresh_token === true && mayUseGrant(family.grant, client, box) && familyEnd(family, settings, box) > now
  );
}

/** Checks whether a family lives: by versions, so that no ended one returns, and by times where the contract does. */
function isAlive(
  family: RefreshFamily,
  client: ClientState,
  box: Pick<BoxState, 'sessionsFrom' | 'revokedBefore'>,
  now: number,
): boolean {
  return (
    !family.ended &&
    !family.userGone &&
    family.expiresAt > now &&
    family.endsAt > now &&
    !isRevoked(family.version, family.createdAt, client) &&
    !isRevoked(family.version, family.createdAt, box)
  );
}

/**
 * Returns the successor of this token for a while after the rotation; undefined later, or if this is not really the
 * previous token (only that one opens the sealed successor).
 */
export function successorOf(family: RefreshFamily, presented: RefreshToken, now: number): RefreshToken | undefined {
  if (presented.generation !== family.generation - 1) return undefined;
  if (family.successor === null || family.rotatedAt === null || now - family.rotatedAt > rotationGrace)
    return undefined;
  try {
    return openSuccessor(family.successor, presented);
  } catch {
    return undefined;
  }
}

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
