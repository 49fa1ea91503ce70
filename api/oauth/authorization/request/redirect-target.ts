import type { Client } from '../../../../crds/client.ts';
import type { BoxState, ClientState } from '../../../state/box-state.ts';
import type { Parameters } from '../../token/parameters.ts';
import type { RedirectTarget } from '../authorization-response.ts';
import { isRedirectUri } from './redirect-uri.ts';
import { chooseMode } from './response-mode.ts';
import { grantOf, knownResponseType, usualMode } from './response-type.ts';

/** A client and the place where it wants its answer. */
export interface FoundRedirectTarget {
  readonly client: ClientState;
  readonly place: RedirectTarget;
}

/** A redirect URI that a client has configured, and its usual response mode. */
type Configured = Pick<RedirectTarget, 'redirectUri'> & { readonly usual: 'query' | 'fragment' };

/**
 * Finds the client of a request and its redirect URI (RFC 6749 §3.1.2.3, §3.1.2.4). Undefined if the client is unknown,
 * it or its box is inactive, or the URI is not configured for the response type: then nothing may be redirected.
 */
export function findRedirectTarget(
  parameters: Parameters,
  state: BoxState,
  issuer: string,
): FoundRedirectTarget | undefined {
  const client = state.clients.get(parameters.get('client_id') ?? '');
  if (client === undefined || client.client.active === false || state.settings.active === false) return undefined;
  const possible = placesOf(client.client, parameters.get('response_type'));
  const requested = parameters.get('redirect_uri');
  const found =
    requested === undefined ? onlyOne(possible) : possible.find((one) => isRedirectUri(requested, one.redirectUri));
  if (found === undefined) return undefined;
  const redirectUri = requested ?? found.redirectUri;
  const place = {
    redirectUri,
    configuredUri: found.redirectUri,
    mode: chooseMode(parameters, usualMode(parameters.get('response_type')) ?? found.usual, redirectUri),
    isNamed: requested !== undefined,
    state: parameters.get('state'),
    issuer,
  };
  return { client, place };
}

/** Returns the URIs for a response type; all of them if the client lacks the type, so that one receives the error. */
function placesOf({ auth }: Client, asked: string | undefined): readonly Configured[] {
  const implicit = auth?.implicit && ({ redirectUri: auth.implicit.redirect_uri, usual: 'fragment' } as const);
  const code =
    auth?.authorization_code && ({ redirectUri: auth.authorization_code.redirect_uri, usual: 'query' } as const);
  const type = knownResponseType(asked);
  const grant = type && grantOf(type);
  if (grant === 'implicit' && implicit !== undefined) return [implicit];
  if (grant === 'authorization_code' && code !== undefined) return [code];
  return [code, implicit].filter((one) => one !== undefined);
}

function onlyOne(possible: readonly Configured[]): Configured | undefined {
  return possible.length === 1 ? possible[0] : undefined;
}
