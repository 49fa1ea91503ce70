import type { GuessLimits } from '../../credentials/client-secret.ts';
import { clientId, readClientCredentials } from '../client-auth/client-auth-request.ts';
import { decideWithKey } from '../keys/decide-with-key.ts';
import { grants } from './grants/registry.ts';
import type { Grant, TokenRequest, VerifyPassword } from './grants/grant.ts';
import { unsupportedGrant } from './unsupported-grant.ts';
import { OAuthError } from '../oauth-error.ts';
import { parseParameters } from './parameters.ts';
import type { OAuthServices } from '../services.ts';
import type { TokenResponse } from './response.ts';

/** A request to the token endpoint as it came in. */
export interface RawTokenRequest {
  readonly box: string;
  readonly contentType: string | undefined;
  readonly authorization: string | undefined;
  readonly body: Buffer;
  readonly remoteAddr: string | null;
  /** Called with the client once its identity is proven, for the log. */
  readonly onClient?: (id: string) => void;
  /** Limits on guesses, called before a secret is verified slowly; an exception stops that. */
  readonly guessLimits?: GuessLimits;
  /** Check of a user's password; if left out, every password is wrong. */
  readonly verifyPassword?: VerifyPassword;
}

/** Serves the token endpoint (RFC 6749 §3.2). Undefined when there is no such box. Throws OAuthError, Outage. */
export async function token(raw: RawTokenRequest, services: OAuthServices): Promise<TokenResponse | undefined> {
  const request = parseTokenRequest(raw); //                §3.2, §2.3.1
  const grant = chooseGrant(request); //                    §5.2
  const answer = await decideWithKey(
    raw.box,
    services,
    (state, statements, transaction) => grant.handle(request, { state, statements, transaction, services }), // §4, §6, §5.1
  );
  if (answer !== undefined) noteClient(raw, request, services);
  return answer;
}

function noteClient({ box, onClient }: RawTokenRequest, { credentials }: TokenRequest, services: OAuthServices): void {
  const client = clientId(credentials);
  services.usage.tokenIssued(box, client, services.now());
  onClient?.(client);
}

function parseTokenRequest(raw: RawTokenRequest): TokenRequest {
  const parameters = parseParameters(raw.contentType, raw.body);
  if (!parameters.has('grant_type')) throw new OAuthError('invalid_request', 'grant_type is missing');
  const credentials = { ...readClientCredentials(raw.authorization, parameters), guessLimits: raw.guessLimits };
  return { parameters, credentials, remoteAddr: raw.remoteAddr, verifyPassword: raw.verifyPassword };
}

function chooseGrant({ parameters }: TokenRequest): Grant {
  const name = parameters.get('grant_type') ?? '';
  const grant = grants.get(name) ?? unsupportedGrant(name);
  if (grant === undefined) throw new OAuthError('unsupported_grant_type', 'This grant_type is not supported');
  return grant;
}
