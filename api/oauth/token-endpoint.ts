import type { Versioned } from '../db/hot-statements.ts';
import { Outage } from '../db/outage.ts';
import type { BoxState } from '../state/box-state.ts';
import { clientId, readClientCredentials } from './client-auth-request.ts';
import { grants } from './grants/index.ts';
import type { Grant, GrantContext, TokenRequest } from './grants/grant.ts';
import { unbuiltGrant } from './grants/unbuilt.ts';
import type { KeyNeeded } from './make-access-token.ts';
import { OAuthError } from './oauth-error.ts';
import { parseParameters } from './parameters.ts';
import { refusable } from './refusable.ts';
import type { OAuthServices } from './services.ts';
import type { TokenResponse } from './token-response.ts';

/** A request to the token endpoint as it came in. */
export interface RawTokenRequest {
  readonly box: string;
  readonly contentType: string | undefined;
  readonly authorization: string | undefined;
  readonly body: Buffer;
  readonly remoteAddr: string | null;
  /** Hears which client it was, once that is proven: for the log. */
  readonly onClient?: (id: string) => void;
  /** Hears that the client's secret is about to be verified slowly; what it throws stops that. */
  readonly onGuess?: () => void;
}

/** The token endpoint, RFC 6749 §3.2. Undefined when there is no such box. Throws OAuthError, Outage. */
export async function token(raw: RawTokenRequest, services: OAuthServices): Promise<TokenResponse | undefined> {
  const request = parseTokenRequest(raw); //                §3.2, §2.3.1
  const grant = chooseGrant(request); //                    §5.2
  const answer = await decideGrant(raw.box, grant, request, services); // §4.4, §6, §5.1
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
  const credentials = { ...readClientCredentials(raw.authorization, parameters), onGuess: raw.onGuess };
  return { parameters, credentials, remoteAddr: raw.remoteAddr };
}

function chooseGrant({ parameters }: TokenRequest): Grant {
  const name = parameters.get('grant_type') ?? '';
  const grant = grants.get(name) ?? unbuiltGrant(name);
  if (grant === undefined) throw new OAuthError('unsupported_grant_type', 'This grant_type is not supported');
  return grant;
}

/** Rounds in which a missing signing key may be made: one is enough unless the settings change meanwhile. */
const keyRounds = 3;

async function decideGrant(
  box: string,
  grant: Grant,
  request: TokenRequest,
  services: OAuthServices,
): Promise<TokenResponse | undefined> {
  for (let round = 0; round < keyRounds; round += 1) {
    const decided = await services.states.decide(box, (state, statements, transaction) =>
      handle(grant, request, { state, statements, transaction, services }),
    );
    if (decided === undefined) return undefined;
    if (decided instanceof OAuthError) throw decided;
    if (!('needed' in decided)) return decided;
    await services.keys.upkeep(box, decided.settings, services.now(), decided.needed);
  }
  throw new Outage('no signing key could be made');
}

interface WithKeyNeeded {
  readonly needed: KeyNeeded;
  readonly settings: BoxState['settings'];
}

function handle(
  grant: Grant,
  request: TokenRequest,
  context: GrantContext,
): Promise<Versioned<TokenResponse | WithKeyNeeded | OAuthError>> {
  const { state, statements } = context;
  return refusable(state, statements, async () => {
    const { version, value } = await grant.handle(request, context);
    return { version, value: 'until' in value ? { needed: value, settings: state.settings } : value };
  });
}
