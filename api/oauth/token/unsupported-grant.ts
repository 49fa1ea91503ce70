import { GRANT_TYPES } from '../../../crds/client.ts';
import type { GrantType } from '../../../crds/client.ts';
import { authenticateClient, namedClient } from '../client-auth/authenticate-client.ts';
import { notAuthenticated } from '../not-authenticated.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Grant } from './grants/grant.ts';

/**
 * Returns a grant that a client may list but this release does not have. Its error tells the client whether it does not
 * list the grant, or the release lacks it (RFC 6749 §5.2). Undefined for a name that is no such grant.
 */
export function unsupportedGrant(name: string): Grant | undefined {
  return isGrantType(name) ? refusing(name) : undefined;
}

function isGrantType(name: string): name is GrantType {
  return GRANT_TYPES.some((known) => known === name);
}

function refusing(name: GrantType): Grant {
  return {
    name,
    async handle({ credentials }, context) {
      const proven = credentials.method !== 'none';
      const client = proven ? await authenticateClient(credentials, context) : namedClient(context, credentials);
      if (client === undefined) throw notAuthenticated();
      if (!client.client.grant_types.includes(name)) {
        throw new OAuthError('unauthorized_client', `The client may not use the grant ${name}`);
      }
      throw new OAuthError('unsupported_grant_type', `The grant ${name} is not supported`);
    },
  };
}
