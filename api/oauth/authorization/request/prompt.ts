import type { Parameters } from '../../token/parameters.ts';
import { OAuthError } from '../../oauth-error.ts';
import { isObject, parseJson } from '../../../../crds/path.ts';
import type { JsonObject } from '../../../../crds/path.ts';
import type { Scopes } from '../../../box/scopes.ts';
import { SCOPE_OF_CLAIM } from '../../openid/user-claims.ts';
import { asksForIdToken, claimWord, hasScope } from '../../scope-text.ts';
import type { RequestedClaim } from '../../scope-text.ts';

/** The parameter `claims` of a request (OpenID Connect Core §5.5). */
interface ClaimsParameter {
  readonly claims: readonly RequestedClaim[];
  /** The user that the id_token must be about (§3.1.2.1), as the request has it; undefined: anybody. */
  readonly subject: unknown;
}

/** Characters at most. */
const longest = 4_096;

/**
 * Reads the parameter `claims`. Unknown claims and members are ignored (§5.5). Throws OAuthError
 * `invalid_request` unless it is a JSON object, and `access_denied` if it demands an `acr` (§5.5.1.1).
 */
export function readClaims(parameters: Parameters): ClaimsParameter {
  const text = parameters.get('claims');
  if (text === undefined) return { claims: [], subject: undefined };
  const value = text.length > longest ? undefined : parseJson(text);
  if (!isObject(value)) {
    throw new OAuthError('invalid_request', `claims must be a JSON object of at most ${String(longest)} characters`);
  }
  const [userinfo, idToken] = [membersOf(value, 'userinfo'), membersOf(value, 'id_token')];
  if (demandsValue(membersOf(idToken, 'acr'))) {
    throw new OAuthError('access_denied', 'claims demands an acr: there is none here');
  }
  return {
    claims: [...claimsIn(userinfo, 'userinfo'), ...claimsIn(idToken, 'id_token')],
    subject: membersOf(idToken, 'sub')['value'],
  };
}

function membersOf(value: JsonObject, name: string): JsonObject {
  const member = Object.hasOwn(value, name) ? value[name] : undefined;
  return isObject(member) ? member : {};
}

function demandsValue(claim: JsonObject): boolean {
  return claim['essential'] === true && (claim['value'] !== undefined || claim['values'] !== undefined);
}

function claimsIn(members: JsonObject, member: RequestedClaim['member']): readonly RequestedClaim[] {
  return Object.keys(members).flatMap((name) => {
    const scope = SCOPE_OF_CLAIM.get(name);
    return scope === undefined ? [] : [{ scope, member, name }];
  });
}

/**
 * Adds requested claims to the scope of a request with `openid`. A claim needs a scope that the client may request;
 * otherwise it is ignored, as is one that userinfo tells for the scope anyway.
 */
export function withClaims(scope: string | null, claims: readonly RequestedClaim[], allowed: Scopes): string | null {
  if (scope === null || !asksForIdToken(scope)) return scope;
  const added = claims.filter((claim) => {
    const isIncluded = claim.member === 'userinfo' && hasScope(scope, claim.scope);
    return allowed.has(claim.scope) && !isIncluded;
  });
  return [scope, ...added.map(claimWord)].join(' ');
}

/** Demands of a request on the pages that its user sees (OpenID Connect Core §3.1.2.1). */
export interface Prompt {
  /** Show no page at all: an error instead of one. */
  readonly none: boolean;
  /** Sign in again, even if a user is signed in. */
  readonly login: boolean;
  /** Ask for consent again. */
  readonly consent: boolean;
  /** Age in seconds beyond which a sign-in is too old for this request; undefined: no limit. */
  readonly maxAge: number | undefined;
}

/** The values that `prompt` can have. */
export const PROMPTS: readonly string[] = ['none', 'login', 'consent', 'select_account'];

/** Reads `prompt` and `max_age`. Throws OAuthError `invalid_request`. */
export function readPrompt(parameters: Parameters): Prompt {
  const values = new Set(parameters.get('prompt')?.split(' ') ?? []);
  if ([...values].some((value) => !PROMPTS.includes(value)) || (values.has('none') && values.size > 1)) {
    throw new OAuthError('invalid_request', 'prompt must be none, or some of login, consent and select_account');
  }
  const maxAge = parameters.get('max_age');
  if (maxAge !== undefined && !/^\d+$/.test(maxAge)) {
    throw new OAuthError('invalid_request', 'max_age must be a whole number of seconds, such as 3600');
  }
  return {
    none: values.has('none'),
    login: values.has('login') || values.has('select_account'),
    consent: values.has('consent'),
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
  };
}

/** Checks whether a request demands a new sign-in although there is one from that time (milliseconds). */
export function demandsSignIn(prompt: Prompt, createdAt: number, now: number): boolean {
  return prompt.login || isTooOld(prompt, createdAt, now);
}

/** Checks whether a sign-in of that time (milliseconds) is too long ago for a request. */
export function isTooOld({ maxAge }: Prompt, createdAt: number, now: number): boolean {
  return maxAge !== undefined && now - createdAt > maxAge * 1000;
}

/**
 * Returns the same request after its user signed in: the demands of `prompt` and `max_age` are met, and the id_token
 * tells the client when. `query` without its question mark.
 */
export function afterSignIn(query: string): string {
  const parameters = new URLSearchParams(query);
  const rest = (parameters.get('prompt') ?? '').split(' ').filter((one) => one !== 'login' && one !== 'select_account');
  if (!parameters.has('prompt') && !parameters.has('max_age')) return query;
  parameters.delete('max_age');
  if (rest.join('') === '') parameters.delete('prompt');
  else parameters.set('prompt', rest.join(' '));
  return parameters.toString();
}
