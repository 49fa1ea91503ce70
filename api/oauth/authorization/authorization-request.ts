import type { BoxState, ClientState } from '../../state/box-state.ts';
import { planAccessToken } from '../access-token-plan.ts';
import type { AccessTokenPlan } from '../access-token-plan.ts';
import { askedIn } from '../asked.ts';
import { needsChallenge } from '../confidential.ts';
import { OAuthError } from '../oauth-error.ts';
import { allOfForm, withoutEmpty } from '../parameters.ts';
import type { Parameters } from '../parameters.ts';
import { errorAddress } from './answer-place.ts';
import type { AnswerPlace } from './answer-place.ts';
import { AuthorizationError } from './authorization-error.ts';
import type { AuthorizationErrorCode } from './authorization-error.ts';
import { findPlace } from './find-place.ts';
import { readPrompt } from './prompt.ts';
import type { Prompt } from './prompt.ts';

/** What an authorization request can ask for (RFC 6749 §3.1.1). */
export type ResponseType = 'token' | 'code';

/** An authorization request that may be answered once its person agrees. */
export interface AuthorizationRequest {
  readonly client: ClientState;
  readonly type: ResponseType;
  readonly place: AnswerPlace;
  /** Of the access token; a code's one is planned again when it is redeemed. */
  readonly plan: AccessTokenPlan;
  readonly askedScope: string | undefined;
  /** PKCE with S256; null: none. */
  readonly challenge: string | null;
  /** Comes back in the id_token (OpenID Connect Core §3.1.2.1). */
  readonly nonce: string | undefined;
  readonly prompt: Prompt;
  /** An email to begin with in the sign-in form. */
  readonly loginHint: string | undefined;
}

/** A request judged: `untrusted` must not be redirected anywhere, `refused` is told to its client at an address. */
export type JudgedRequest =
  | { readonly verdict: 'untrusted' }
  | { readonly verdict: 'refused'; readonly address: string }
  | { readonly verdict: 'good'; readonly request: AuthorizationRequest };

/**
 * Pure: judges the parameters of an authorization request (RFC 6749 §4.1.1, §4.2.1). `query` is as it came, without its
 * question mark.
 */
export function judgeAuthorizationRequest(query: string, state: BoxState, issuer: string): JudgedRequest {
  const parameters = readQuery(query);
  const found = parameters && findPlace(parameters, state, issuer); //   §3.1.2.4: no redirect before this
  if (parameters === undefined || found === undefined) return { verdict: 'untrusted' };
  const { client, place } = found;
  try {
    const type = responseType(parameters, client, state); //             §3.1.1, §4.1.2.1
    refuseUnknownForms(parameters, place);
    const challenge = challengeIn(parameters, client, type); //          RFC 7636 §4.4.1
    const asked = askedIn(parameters);
    const settings = client.client.auth?.[type === 'token' ? 'implicit' : 'authorization_code'] ?? {};
    const plan = planAccessToken(settings, client.client, state.settings, asked); // §3.3
    const prompt = readPrompt(parameters);
    const loginHint = parameters.get('login_hint');
    const nonce = parameters.get('nonce');
    const request = { client, type, place, plan, askedScope: asked.scope, challenge, nonce, prompt, loginHint };
    return { verdict: 'good', request };
  } catch (error) {
    if (!(error instanceof AuthorizationError || error instanceof OAuthError)) throw error;
    return { verdict: 'refused', address: errorAddress(place, codeOf(error), error.message) };
  }
}

function readQuery(query: string): Parameters | undefined {
  try {
    const all = allOfForm(query);
    const state = all.get('state');
    const parameters = new Map(withoutEmpty(all));
    // What a client says of itself comes back as it came, were it nothing.
    return state === undefined ? parameters : parameters.set('state', state);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

function responseType(parameters: Parameters, client: ClientState, { settings }: BoxState): ResponseType {
  const type = parameters.get('response_type');
  if (type === undefined) throw new AuthorizationError('invalid_request', 'response_type is missing');
  if (type !== 'token' && type !== 'code') {
    throw new AuthorizationError('unsupported_response_type', 'response_type must be code or token');
  }
  const grant = type === 'token' ? 'implicit' : 'authorization_code';
  if (!client.client.grant_types.includes(grant)) {
    throw new AuthorizationError('unauthorized_client', `The client may not use the grant ${grant}`);
  }
  const { compatibility } = settings;
  if (type === 'token' && !(compatibility?.implicit ?? compatibility?.profile !== 'strict')) {
    throw new AuthorizationError('unsupported_response_type', 'The implicit grant is switched off here: use code');
  }
  return type;
}

/** What would change how the request is read, or how it is answered, must not be ignored. */
function refuseUnknownForms(parameters: Parameters, { part }: AnswerPlace): void {
  if (parameters.has('request')) throw new AuthorizationError('request_not_supported', 'request is not supported');
  if (parameters.has('request_uri'))
    throw new AuthorizationError('request_uri_not_supported', 'request_uri is not supported');
  const mode = parameters.get('response_mode');
  if (mode !== undefined && mode !== part) {
    throw new AuthorizationError('invalid_request', `response_mode must be ${part}, or left out`);
  }
}

/** SHA-256 in base64url. */
const challengeShape = /^[A-Za-z0-9_-]{43}$/;

function challengeIn(parameters: Parameters, client: ClientState, type: ResponseType): string | null {
  if (type === 'token') return null;
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    if (method === undefined && !needsChallenge(client)) return null;
    throw new AuthorizationError('invalid_request', 'code_challenge is missing: PKCE with S256 is required');
  }
  if (method !== 'S256') throw new AuthorizationError('invalid_request', 'code_challenge_method must be S256');
  if (!challengeShape.test(challenge)) {
    throw new AuthorizationError('invalid_request', 'code_challenge must be a SHA-256 in base64url, 43 characters');
  }
  return challenge;
}

/** What the planning of a token refuses with has the same names here (RFC 6749 §4.1.2.1, RFC 8707 §2). */
function codeOf(error: AuthorizationError | OAuthError): AuthorizationErrorCode {
  if (error instanceof AuthorizationError) return error.code;
  return error.code === 'invalid_scope' || error.code === 'invalid_target' ? error.code : 'invalid_request';
}
