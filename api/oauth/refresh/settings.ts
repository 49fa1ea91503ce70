import type { Client } from '../../../crds/client.ts';
import type { FirstGrant } from '../../db/session/grant-letter.ts';
import type { ClientState } from '../../state/box-state.ts';
import type { GrantSettings } from '../token/plan.ts';
import { canAuthenticate } from '../client-auth/client-type.ts';

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
