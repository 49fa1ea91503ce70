import type { Consent } from '../../db/consent.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/** Whether a person has allowed this client all that a request wants; of a client that was made anew since nothing counts. */
export function isCoveredBy(
  consent: Consent | undefined,
  { client, plan }: Pick<AuthorizationRequest, 'client' | 'plan'>,
): consent is Consent {
  if (consent === undefined || consent.version < client.sessionsFrom) return false;
  return scopesOf(plan.scope).every((scope) => consent.scopes.includes(scope));
}

/** The single scopes in the text of a scope. */
export function scopesOf(scope: string | null): readonly string[] {
  return scope === null ? [] : scope.split(' ');
}
