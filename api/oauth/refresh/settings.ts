import type { Client } from '../../../crds/client.ts';
import type { FirstGrant } from '../../db/session/record.ts';
import type { ClientState } from '../../box/box-state.ts';
import type { GrantSettings } from '../token/plan.ts';
import { canAuthenticate } from '../client-auth/authenticate-client.ts';
import type { Box } from '../../../crds/box.ts';
import type { RefreshFamily } from '../../db/session/refresh-family.ts';

/** The settings of a grant that gives refresh tokens. */
export interface RefreshSettings extends GrantSettings {
  readonly refresh_token_expiration?: number;
  readonly refresh_requires_secret?: boolean;
  readonly refresh_rotation?: boolean;
}

/** Returns a client's settings of the grant that a family came from; none for a grant without refresh tokens. */
export function refreshSettings({ auth }: Client, grant: FirstGrant): RefreshSettings {
  if (grant === 'c') return auth?.client_credentials ?? {};
  return (grant === 'a' ? auth?.authorization_code : undefined) ?? {};
}

/**
 * Checks whether each use of a refresh token returns a successor. The client's settings decide; a user's tokens rotate
 * by default, and always if the client cannot authenticate (RFC 9700 §4.14.2).
 */
export function isRotating(client: ClientState, grant: FirstGrant): boolean {
  const rotation = refreshSettings(client.client, grant).refresh_rotation;
  if (grant === 'c') return rotation === true;
  return !canAuthenticate(client) || rotation !== false;
}

/** Lifetimes of a client's refresh tokens, in milliseconds. */
export interface RefreshLifetimes {
  /** Lifetime since the issue or the last use. */
  readonly sliding: number;
  /** Lifetime since the first issue, regardless of uses; never less than `sliding`. */
  readonly absolute: number;
}

/** Returns the latest end of a family in milliseconds. A limit that was shortened since it began applies to it. */
export function familyEnd(family: RefreshFamily, settings: RefreshSettings, box: Box): number {
  return Math.min(family.endsAt, family.createdAt + refreshLifetimes(settings, box).absolute);
}

const thirtyDays = 30 * 86_400;
const oneYear = 365 * 86_400;

/** Returns the lifetimes that a client's grant and its box configure; 30 days and one year by default. */
export function refreshLifetimes(settings: RefreshSettings, box: Box): RefreshLifetimes {
  const sliding = settings.refresh_token_expiration ?? thirtyDays;
  const absolute = box.tokens?.max_refresh_lifetime ?? oneYear;
  return { sliding: sliding * 1000, absolute: Math.max(absolute, sliding) * 1000 };
}
