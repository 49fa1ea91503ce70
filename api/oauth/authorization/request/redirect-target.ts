import type { Client } from '../../../../crds/client.ts';
import type { BoxState, ClientState } from '../../../state/box-state.ts';
import type { Parameters } from '../../token/parameters.ts';
import type { RedirectTarget } from '../authorization-response.ts';
import { clientOf } from '../../built-in-clients.ts';
import { configuredUri, onlyUri } from './configured-uris.ts';
import type { ConfiguredUris } from './configured-uris.ts';
import { chooseMode } from './response-mode.ts';
import { grantOf, knownResponseType, usualMode } from './response-type.ts';

/** A client and the place where it wants its answer. */
export interface FoundRedirectTarget {
  readonly client: ClientState;
  readonly place: RedirectTarget;
}

/** The redirect URIs of a grant, and its usual response mode. */
interface Configured {
  readonly uris: ConfiguredUris;
  readonly usual: 'query' | 'fragment';
}

/**
 * Finds the client of a request and its redirect URI (RFC 6749 §3.1.2.3, §3.1.2.4). Undefined if the client is unknown,
 * it or its box is inactive, or the URI is not configured for the response type: then nothing may be redirected.
 */
export function findRedirectTarget(
  parameters: Parameters,
  state: BoxState,
  issuer: string,
): FoundRedirectTarget | undefined {
  const client = clientOf(state, parameters.get('client_id') ?? '', issuer);
  if (client === undefined || client.client.active === false || state.settings.active === false) return undefined;
  const requested = parameters.get('redirect_uri');
  const found = findUri(configuredFor(client.client, parameters.get('response_type')), requested);
  if (found === undefined) return undefined;
  const redirectUri = requested ?? found.uri;
  const place = {
    redirectUri,
    configuredUri: found.uri,
    mode: chooseMode(parameters, usualMode(parameters.get('response_type')) ?? found.usual, redirectUri),
    isNamed: requested !== undefined,
    state: parameters.get('state'),
    issuer,
  };
  return { client, place };
}

/** Finds the configured URI that is requested, or the only one there is (RFC 6749 §3.1.2.3). */
function findUri(
  possible: readonly Configured[],
  requested: string | undefined,
): (Pick<Configured, 'usual'> & { readonly uri: string }) | undefined {
  if (requested === undefined && possible.length > 1) return undefined;
  for (const { uris, usual } of possible) {
    const uri = requested === undefined ? onlyUri(uris) : configuredUri(requested, uris);
    if (uri !== undefined) return { uri, usual };
  }
  return undefined;
}

/** Returns the URIs for a response type; all of them if the client lacks the type, so that one receives the error. */
function configuredFor({ auth }: Client, asked: string | undefined): readonly Configured[] {
  const implicit = auth?.implicit && ({ uris: auth.implicit, usual: 'fragment' } as const);
  const code = auth?.authorization_code && ({ uris: auth.authorization_code, usual: 'query' } as const);
  const type = knownResponseType(asked);
  const grant = type && grantOf(type);
  if (grant === 'implicit' && implicit !== undefined) return [implicit];
  if (grant === 'authorization_code' && code !== undefined) return [code];
  return [code, implicit].filter((one) => one !== undefined);
}
