import { hash } from 'node:crypto';
import type { Box } from '../../../../crds/box.ts';
import { ID_TOKEN_LIFETIME } from '../../openid/id-token.ts';
import { refreshLifetimes } from '../../refresh/refresh-lifetimes.ts';
import { hasScope } from '../../scope-text.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/**
 * Returns a digest of what the consent page shows of a request. The answer repeats it: after a change of the client, or
 * of the sentence of a scope, the client must not receive more than its user has read.
 */
export function shownDigest(request: AuthorizationRequest, settings: Box): string {
  const { client, type, place, plan } = request;
  const { scopes = {} } = settings;
  const sentences = Object.entries(scopes).filter(([scope]) => hasScope(plan.scope, scope));
  const shown = [
    client.client.id,
    client.client.name,
    type,
    plan.scope,
    plan.audience,
    shownLifetime(request, settings),
    place.redirectUri,
    sentences,
  ];
  return hash('sha256', JSON.stringify(shown), 'base64url');
}

/** Returns the seconds until the access ends that a request would grant, with all its refreshes. */
export function shownLifetime({ client, type, plan }: AuthorizationRequest, settings: Box): number {
  if (type === 'id_token') return ID_TOKEN_LIFETIME;
  const refreshed = type === 'code' ? client.client.auth?.authorization_code : undefined;
  const renewed = refreshed?.refresh_token === true ? refreshLifetimes(refreshed, settings).absolute / 1000 : 0;
  return Math.max(plan.lifetime, renewed);
}
