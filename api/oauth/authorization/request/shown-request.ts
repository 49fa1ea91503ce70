import { hash } from 'node:crypto';
import type { Box } from '../../../../crds/box.ts';
import { hasScope } from '../../scope-text.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/**
 * Returns a digest of what the consent page shows of a request. The answer repeats it: after a change of the client, or
 * of the sentence of a scope, the client must not receive more than its user has read.
 */
export function shownDigest({ client, type, place, plan }: AuthorizationRequest, { scopes = {} }: Box): string {
  const sentences = Object.entries(scopes).filter(([scope]) => hasScope(plan.scope, scope));
  const shown = [
    client.client.id,
    client.client.name,
    type,
    plan.scope,
    plan.audience,
    plan.lifetime,
    place.redirectUri,
    sentences,
  ];
  return hash('sha256', JSON.stringify(shown), 'base64url');
}
