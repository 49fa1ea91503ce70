import { GRANT_TYPES } from '../../../crds/client.ts';
import type { GrantType } from '../../../crds/client.ts';
import { identifyClient, requireGrantType } from '../client-auth/identify-client.ts';
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
      const client = await identifyClient(credentials, context, () => false);
      requireGrantType(client, name);
      throw new OAuthError('unsupported_grant_type', `The grant ${name} is not supported`);
    },
  };
}
