import { GRANT_TYPES } from '../../../crds/client.ts';
import { clientId, readClientCredentials } from '../client-auth/client-auth-request.ts';
import { identifyClient, requireGrantType } from '../client-auth/authenticate-client.ts';
import type { RequestChecks } from '../client-auth/context.ts';
import { decideWithKey } from '../keys/key-needed.ts';
import type { Grant, TokenRequest } from './grants/grant.ts';
import { OAuthError } from '../oauth-error.ts';
import { parseParameters } from './parameters.ts';
import type { OAuthServices } from '../services.ts';
import type { TokenResponse } from '../../schemas/oauth.ts';
import { authorizationCode } from './grants/authorization-code.ts';
import { clientCredentials } from './grants/client-credentials.ts';
import { password } from './grants/password.ts';
import { refreshToken } from './grants/refresh-token.ts';

/** Supported grants by their `grant_type`; the metadata lists no other. */
export const grants: ReadonlyMap<string, Grant> = new Map(
  [clientCredentials, authorizationCode, refreshToken, password].map((grant) => [grant.name, grant]),
);

/** A request to an OAuth endpoint as it came in. */
export interface RawTokenRequest extends Pick<TokenRequest, 'box' | 'remoteAddr' | 'requestId'> {
  readonly contentType: string | undefined;
  readonly authorization: string | undefined;
  readonly body: Buffer;
}

/** Reads the parameters and the credentials of a request (RFC 6749 §3.2, §2.3.1). Throws OAuthError. */
export function readTokenRequest(raw: RawTokenRequest): TokenRequest {
  const { box, remoteAddr, requestId } = raw;
  const parameters = parseParameters(raw.contentType, raw.body);
  const credentials = readClientCredentials(raw.authorization, parameters);
  return { box, parameters, credentials, remoteAddr, requestId };
}

/** Serves the token endpoint (RFC 6749 §3.2). Undefined when there is no such box. Throws OAuthError, Outage. */
export async function token(
  request: TokenRequest,
  services: OAuthServices,
  checks: RequestChecks,
): Promise<TokenResponse | undefined> {
  const grant = chooseGrant(request); //                    §5.2
  // §2.3, §4, §6, §5.1; again if the configuration or a key changed
  const response = await decideWithKey(request.box, services, (state, statements, transaction) =>
    grant.handle(request, { state, statements, transaction, services, checks }),
  );
  if (response !== undefined) services.usage.tokenIssued(request.box, clientId(request.credentials), services.now());
  return response;
}

function chooseGrant({ parameters }: TokenRequest): Grant {
  const name = parameters.get('grant_type');
  if (name === undefined) throw new OAuthError('invalid_request', 'grant_type is missing');
  const grant = grants.get(name) ?? unsupportedGrant(name);
  if (grant === undefined) throw new OAuthError('unsupported_grant_type', 'This grant_type is not supported');
  return grant;
}

/**
 * Returns a grant that a client may list but this release does not have. Its error tells the client whether it does not
 * list the grant, or the release lacks it (RFC 6749 §5.2). Undefined for a name that is no such grant.
 */
function unsupportedGrant(text: string): Grant | undefined {
  const name = GRANT_TYPES.find((known) => known === text);
  if (name === undefined) return undefined;
  return {
    name,
    async handle({ credentials }, context) {
      const client = await identifyClient(credentials, context, () => false);
      requireGrantType(client, name);
      throw new OAuthError('unsupported_grant_type', `The grant ${name} is not supported`);
    },
  };
}
