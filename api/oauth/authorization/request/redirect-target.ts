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
  const uri = findUri(configuredFor(client.client, parameters.get('response_type')), requested);
  if (uri === undefined) return undefined;
  const redirectUri = requested ?? uri;
  const place = {
    redirectUri,
    configuredUri: uri,
    mode: chooseMode(parameters, usualMode(parameters.get('response_type')), redirectUri),
    isNamed: requested !== undefined,
    state: parameters.get('state'),
    issuer,
  };
  return { client, place };
}

/** Finds the configured URI that is requested, or the only one there is (RFC 6749 §3.1.2.3). */
function findUri(possible: readonly ConfiguredUris[], requested: string | undefined): string | undefined {
  if (requested === undefined && possible.length > 1) return undefined;
  const uris = possible.map((one) => (requested === undefined ? onlyUri(one) : configuredUri(requested, one)));
  return uris.find((one) => one !== undefined);
}

/** Returns the URIs for a response type; all of them if the client lacks the type, so that one receives the error. */
function configuredFor({ auth }: Client, asked: string | undefined): readonly ConfiguredUris[] {
  const type = knownResponseType(asked);
  const uris = type && auth?.[grantOf(type)];
  if (uris !== undefined) return [uris];
  return [auth?.authorization_code, auth?.implicit].filter((one) => one !== undefined);
}
