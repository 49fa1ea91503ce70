import { isObject, parseJson } from '../../../../crds/path.ts';
import type { JsonObject } from '../../../../crds/path.ts';
import type { Scopes } from '../../../box/scopes.ts';
import { SCOPE_OF_CLAIM } from '../../openid/user-claims.ts';
import { asksForIdToken, claimWord, hasScope } from '../../scope-text.ts';
import type { RequestedClaim } from '../../scope-text.ts';
import type { Parameters } from '../../token/parameters.ts';
import { OAuthError } from '../../oauth-error.ts';

/** The parameter `claims` of a request (OpenID Connect Core §5.5). */
export interface ClaimsParameter {
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
