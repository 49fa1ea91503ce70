import type { Box } from '../../crds/box.ts';
import { RESERVED_SCOPES } from '../../crds/scopes.ts';
import type { RequestableScopes } from './requestable-scopes.ts';

/** Scopes that can be looked up. */
export type Scopes = Pick<ReadonlySet<string>, 'has'>;

/**
 * Returns the scopes that a box knows in a request of a client: the {@link RESERVED_SCOPES}, those that the Box
 * declares, and those that the client itself lists. Lists of other clients have no influence, so no answer tells of
 * them. A box ignores any other scope (OpenID Connect Core §3.1.2.1).
 */
export function knownScopes(requestable: RequestableScopes, { scopes = {} }: Pick<Box, 'scopes'>): Scopes {
  return { has: (scope) => reserved.has(scope) || Object.hasOwn(scopes, scope) || requestable.user.has(scope) };
}

const reserved: ReadonlySet<string> = new Set(RESERVED_SCOPES);
