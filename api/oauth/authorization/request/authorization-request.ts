import type { Box } from '../../../../crds/box.ts';
import type { Client } from '../../../../crds/client.ts';
import type { BoxState, ClientState } from '../../../box/box-state.ts';
import { planAccessToken } from '../../token/plan.ts';
import type { AccessTokenPlan, GrantSettings } from '../../token/plan.ts';
import { defaultScope } from '../../../box/scopes.ts';
import { requestedAccess } from '../../token/requested-access.ts';
import { requiresPkce } from '../../client-auth/authenticate-client.ts';
import { OAuthError } from '../../oauth-error.ts';
import type { RefusalDetails } from '../../../schemas/refusals.ts';
import { asksForIdToken } from '../../scope-text.ts';
import { allOfForm, withoutEmpty } from '../../token/parameters.ts';
import type { Parameters } from '../../token/parameters.ts';
import { codeAt, errorResponse, configuredUri, onlyUri } from '../authorization-response.ts';
import type { AuthorizationResponse, RedirectTarget, ConfiguredUris } from '../authorization-response.ts';
import { readClaims, withClaims, readPrompt } from './prompt.ts';
import type { Prompt } from './prompt.ts';
import {
  chooseMode,
  refuseOtherMode,
  givesIdToken,
  grantOf,
  knownResponseType,
  readResponseType,
  usualMode,
} from './response-type.ts';
import type { ResponseType } from './response-type.ts';
import { USER_HINT } from './user-hint.ts';
import { clientOf } from '../../built-in-clients.ts';

/** An authorization request that may be answered once its user agrees. */
export interface AuthorizationRequest {
  readonly client: ClientState;
  readonly type: ResponseType;
  readonly target: RedirectTarget;
  /** Plan of the access token; that of a code is computed again when the code is redeemed. */
  readonly plan: AccessTokenPlan;
  readonly requestedScope: string | undefined;
  /** PKCE with S256; null: none. */
  readonly challenge: string | null;
  /** Value that comes back in the id_token (OpenID Connect Core §3.1.2.1). */
  readonly nonce: string | undefined;
  readonly prompt: Prompt;
  /** An email to begin with in the sign-in form. */
  readonly loginHint: string | undefined;
  /** Hint that names the user who is to be signed in, as it came. */
  readonly userHint: string | undefined;
  /** The user that the parameter `claims` demands; undefined: anybody. */
  readonly demandedUser: unknown;
  /** Its parameters as they came. */
  readonly query: string;
}

/** Verdict on a request: `untrusted` must not be redirected anywhere, `refused` is reported to its client. */
export type ValidatedRequest =
  | { readonly verdict: 'untrusted' }
  | {
      readonly verdict: 'refused';
      readonly answer: AuthorizationResponse;
      readonly details: RefusalDetails | undefined;
    }
  | { readonly verdict: 'good'; readonly request: AuthorizationRequest };

/**
 * Pure: validates the parameters of an authorization request (RFC 6749 §4.1.1, §4.2.1). `query` is as it came, without
 * its question mark and without an id_token ({@link replaceIdToken}).
 */
export function validateAuthorizationRequest(query: string, state: BoxState, issuer: string): ValidatedRequest {
  const parameters = readQuery(query);
  const found = parameters && findRedirectTarget(parameters, state, issuer); //   §3.1.2.4: no redirect before this
  if (parameters === undefined || found === undefined) return { verdict: 'untrusted' };
  const { client, target } = found;
  try {
    const type = readResponseType(parameters, client, state); //         §3.1.1, §4.1.2.1
    refuseOtherMode(parameters, target.mode);
    refuseUnknownForms(parameters);
    const challenge = challengeIn(parameters, client, type); //          RFC 7636 §4.4.1
    const requested = requestedAccess(parameters);
    const { settings: box } = state;
    const settings = settingsOf(client.client, type, box);
    const context = { settings, scopes: client.scopes, box, issuer, subject: 'user' } as const;
    const wanted = { ...requested, scope: requested.scope ?? defaultScope(client.scopes, 'user') };
    const planned = planAccessToken(context, wanted); //                 §3.3, RFC 8707 §2
    const { claims, subject } = readClaims(parameters); //               OpenID Connect Core §5.5
    const isOpenId = requested.scope !== undefined && asksForIdToken(planned.scope);
    const plan = isOpenId ? { ...planned, scope: withClaims(planned.scope, claims, client.scopes.user) } : planned;
    const prompt = readPrompt(parameters);
    const loginHint = parameters.get('login_hint');
    const nonce = readNonce(parameters);
    refuseLooseIdToken(type, isOpenId, nonce);
    const hints = { loginHint, userHint: parameters.get(USER_HINT), demandedUser: subject };
    const accepted = { client, type, target, plan, requestedScope: requested.scope };
    const request = { ...accepted, challenge, nonce, prompt, ...hints, query };
    return { verdict: 'good', request };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    error.client = client.client.id;
    return { verdict: 'refused', answer: errorResponse(target, codeAt(error), error.message), details: error.details };
  }
}

/** Seconds for which a token in an address is valid unless its client or box configures it: addresses are kept. */
const IMPLICIT_LIFETIME = 3600;

/** Returns a client's settings for a response type. A token that is returned directly always has a lifetime. */
function settingsOf({ auth }: Client, type: ResponseType, { tokens = {} }: Box): GrantSettings {
  const settings = auth?.[grantOf(type)] ?? {};
  if (type === 'code' || settings.access_token_expiration !== undefined) return settings;
  const { default_access_token_expiration, default_lifetime = IMPLICIT_LIFETIME } = tokens;
  const lifetime = default_access_token_expiration ?? Math.min(IMPLICIT_LIFETIME, default_lifetime);
  return { ...settings, access_token_expiration: lifetime };
}

function readQuery(query: string): Parameters | undefined {
  try {
    const all = allOfForm(query);
    const state = all.get('state');
    const parameters = new Map(withoutEmpty(all));
    // The client gets its `state` back as it came, even if it is empty.
    return state === undefined ? parameters : parameters.set('state', state);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

/** Refuses parameters that would change the meaning of the request: they must not be ignored. */
function refuseUnknownForms(parameters: Parameters): void {
  if (parameters.has('request')) throw new OAuthError('request_not_supported', 'request is not supported');
  if (parameters.has('request_uri')) throw new OAuthError('request_uri_not_supported', 'request_uri is not supported');
}

/** Reads the nonce, which is stored with a code. */
function readNonce(parameters: Parameters): string | undefined {
  const nonce = parameters.get('nonce');
  if (nonce !== undefined && nonce.length > longestNonce) {
    const message = `nonce has more than ${String(longestNonce)} characters`;
    throw new OAuthError('invalid_request', message);
  }
  return nonce;
}

/** Characters of a nonce at most. */
const longestNonce = 1_024;

/** Demands the scope `openid` and a nonce, which binds an id_token to its request (OpenID Connect Core §3.2.2.1). */
function refuseLooseIdToken(type: ResponseType, isOpenId: boolean, nonce: string | undefined): void {
  if (!givesIdToken(type)) return;
  if (!isOpenId) throw new OAuthError('invalid_scope', 'An id_token needs the scope openid');
  if (nonce === undefined) throw new OAuthError('invalid_request', 'nonce is missing: an id_token needs one');
}

/** SHA-256 in base64url. */
const challengeShape = /^[A-Za-z0-9_-]{43}$/;

function wrongChallenge(description: string): OAuthError {
  return new OAuthError('invalid_request', description, { reason: 'wrong_code_challenge', sent: description });
}

function challengeIn(parameters: Parameters, client: ClientState, type: ResponseType): string | null {
  if (type !== 'code') return null;
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    if (method === undefined && !requiresPkce(client)) return null;
    throw wrongChallenge('code_challenge is missing: PKCE with S256 is required');
  }
  if (method !== 'S256') throw wrongChallenge('code_challenge_method must be S256');
  if (!challengeShape.test(challenge)) {
    throw wrongChallenge('code_challenge must be a SHA-256 in base64url, 43 characters');
  }
  return challenge;
}

/** A client and the target of its answer. */
export interface FoundRedirectTarget {
  readonly client: ClientState;
  readonly target: RedirectTarget;
}

/**
 * Finds the client of a request and its redirect URI (RFC 6749 §3.1.2.3, §3.1.2.4). Undefined if the client is unknown,
 * it or its box is inactive, or the URI is not configured for the response type: then nothing may be redirected.
 */
function findRedirectTarget(parameters: Parameters, state: BoxState, issuer: string): FoundRedirectTarget | undefined {
  const client = clientOf(state, parameters.get('client_id') ?? '', issuer);
  if (client === undefined || client.client.active === false || state.settings.active === false) return undefined;
  const requested = parameters.get('redirect_uri');
  const uri = findUri(configuredFor(client.client, parameters.get('response_type')), requested);
  if (uri === undefined) return undefined;
  const redirectUri = requested ?? uri;
  const target = {
    redirectUri,
    configuredUri: uri,
    mode: chooseMode(parameters, usualMode(parameters.get('response_type')), redirectUri),
    isNamed: requested !== undefined,
    state: parameters.get('state'),
    issuer,
  };
  return { client, target };
}

/** Finds the configured URI that is requested, or the only one there is (RFC 6749 §3.1.2.3). */
function findUri(possible: readonly ConfiguredUris[], requested: string | undefined): string | undefined {
  if (requested === undefined && possible.length > 1) return undefined;
  const uris = possible.map((one) => (requested === undefined ? onlyUri(one) : configuredUri(requested, one)));
  return uris.find((one) => one !== undefined);
}

/** Returns the URIs for a response type; all of them if the client lacks the type, so that one receives the error. */
function configuredFor({ auth }: Client, requested: string | undefined): readonly ConfiguredUris[] {
  const type = knownResponseType(requested);
  const uris = type && auth?.[grantOf(type)];
  if (uris !== undefined) return [uris];
  return [auth?.authorization_code, auth?.implicit].filter((one) => one !== undefined);
}
