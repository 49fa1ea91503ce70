import type { Client } from '../../crds/client.ts';
import type { ClientState } from '../state/box-state.ts';
import type { GrantSettings } from './access-token-plan.ts';
import { canAuthenticate } from './confidential.ts';

/** The settings of a grant that gives refresh tokens. */
export interface RefreshSettings extends GrantSettings {
  readonly refresh_token?: boolean;
  readonly refresh_token_expiration?: number;
  readonly refresh_requires_secret?: boolean;
  readonly refresh_rotation?: boolean;
}

/** Those of the grant that a family began with: a code for a person's family, client credentials for the client's own. */
export function refreshSettings({ auth }: Client, user: number | null): RefreshSettings {
  return (user === null ? auth?.client_credentials : auth?.authorization_code) ?? {};
}

/**
 * Whether each use of a refresh token returns a successor: where a client's settings say so; a person's do by default, and
 * always at a client that proves nothing (RFC 9700 §4.14.2).
 */
export function isRotating(client: ClientState, user: number | null): boolean {
  const rotation = refreshSettings(client.client, user).refresh_rotation;
  if (user === null) return rotation === true;
  return !canAuthenticate(client) || rotation !== false;
}
