import { clientId, readClientCredentials } from '../client-auth/client-auth-request.ts';
import type { RequestChecks } from '../client-auth/request-checks.ts';
import { decideWithKey } from '../keys/key-needed.ts';
import { grants } from './grants/registry.ts';
import type { Grant, TokenRequest } from './grants/grant.ts';
import { unsupportedGrant } from './unsupported-grant.ts';
import { OAuthError } from '../oauth-error.ts';
import { parseParameters } from './parameters.ts';
import type { OAuthServices } from '../services.ts';
import type { TokenResponse } from '../../schemas/oauth.ts';

/** A request to the token endpoint as it came in. */
export interface RawTokenRequest {
  readonly box: string;
  readonly contentType: string | undefined;
  readonly authorization: string | undefined;
  readonly body: Buffer;
  readonly remoteAddr: string | null;
  readonly requestId?: string | undefined;
}

/** Serves the token endpoint (RFC 6749 §3.2). Undefined when there is no such box. Throws OAuthError, Outage. */
export async function token(
  raw: RawTokenRequest,
  services: OAuthServices,
  checks: RequestChecks,
): Promise<TokenResponse | undefined> {
  const request = parseTokenRequest(raw); //                §3.2, §2.3.1
  const grant = chooseGrant(request); //                    §5.2
  // §4, §6, §5.1
  const answer = await decideWithKey(raw.box, services, (state, statements, transaction) =>
    grant.handle(request, { state, statements, transaction, services, checks }),
  );
  if (answer === undefined) return undefined;
  const client = clientId(request.credentials);
  services.usage.tokenIssued(raw.box, client, services.now());
  checks.onClient?.(client);
  return answer;
}

function parseTokenRequest(raw: RawTokenRequest): TokenRequest {
  const parameters = parseParameters(raw.contentType, raw.body);
  if (!parameters.has('grant_type')) throw new OAuthError('invalid_request', 'grant_type is missing');
  const credentials = readClientCredentials(raw.authorization, parameters);
  return { parameters, credentials, remoteAddr: raw.remoteAddr };
}

function chooseGrant({ parameters }: TokenRequest): Grant {
  const name = parameters.get('grant_type') ?? '';
  const grant = grants.get(name) ?? unsupportedGrant(name);
  if (grant === undefined) throw new OAuthError('unsupported_grant_type', 'This grant_type is not supported');
  return grant;
}
