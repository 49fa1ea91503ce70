import type { ConsentTarget } from '../../db/authorization/consent.ts';
import type { AuthorizationRequest } from './request/authorization-request.ts';

/** Returns the target that a consent to a request is for: the redirect URI as configured, and the audience. */
export function consentTarget({ place, plan }: Pick<AuthorizationRequest, 'place' | 'plan'>): ConsentTarget {
  const [audience = null] = plan.audience ?? [];
  return { redirectUri: place.configuredUri, audience: audience === place.issuer ? null : audience };
}
