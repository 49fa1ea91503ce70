import type { Consent } from '../../db/authorization/consent.ts';
import { scopesOf } from '../scope-text.ts';
import type { AuthorizationRequest } from './request/authorization-request.ts';

/** Checks whether a consent covers all that a request wants. A consent to an earlier client of this ID is ignored. */
export function isCoveredBy(
  consent: Consent | undefined,
  { client, plan }: Pick<AuthorizationRequest, 'client' | 'plan'>,
): consent is Consent {
  if (consent === undefined || consent.version < client.sessionsFrom) return false;
  return scopesOf(plan.scope).every((scope) => consent.scopes.includes(scope));
}
