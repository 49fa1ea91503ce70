import { hash } from 'node:crypto';
import type { AuthorizationRequest } from './authorization-request.ts';

/**
 * Returns a digest of what the consent page shows of a request. The answer repeats it: a client that was changed
 * meanwhile must not receive more than its user has read.
 */
export function shownDigest({ client, type, place, plan }: AuthorizationRequest): string {
  const shown = [
    client.client.id,
    client.client.name,
    type,
    plan.scope,
    plan.audience,
    plan.lifetime,
    place.redirectUri,
  ];
  return hash('sha256', JSON.stringify(shown), 'base64url');
}
