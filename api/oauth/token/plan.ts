import type { Box } from '../../../crds/box.ts';
import { knownScopes, OFFLINE_SCOPE } from '../../box/scopes.ts';
import type { Scopes, RequestableScopes } from '../../box/scopes.ts';
import { claimWord, hasScope, requestedClaims, scopesOf, scopeText } from '../scope-text.ts';
import { boundAudience, requestedAudience, requestedScope, scopeLeft } from './requested-access.ts';
import type { AudienceRules, RequestedAccess } from './requested-access.ts';

/** The settings that every grant of a client has in common. */
export interface GrantSettings {
  readonly token_format?: 'jwt';
  readonly access_token_expiration?: number;
  readonly audience?: readonly string[];
  readonly refresh_token?: boolean;
}

/** Properties of a planned access token. Lifetimes in seconds. */
export interface AccessTokenPlan {
  readonly format: 'opaque' | 'jwt';
  readonly lifetime: number;
  /** Value of `expires_in`; undefined (left out) without a configured lifetime, except for a refresh. */
  readonly expiresIn: number | undefined;
  readonly audience: readonly string[] | null;
  readonly scope: string | null;
}

/** Audience and scope that were granted first; no refresh ever gets more (RFC 6749 §6). */
export type Granted = Pick<AccessTokenPlan, 'audience' | 'scope'>;

/** The settings and the subject that a token is planned for. */
export interface PlanContext extends AudienceRules {
  readonly settings: GrantSettings;
  /** Scopes that the client may request. */
  readonly scopes: RequestableScopes;
}

/** Plans an access token. Throws OAuthError `invalid_target` (RFC 8707 §2) or `invalid_scope` (RFC 6749 §5.2). */
export function planAccessToken(context: PlanContext, requested: RequestedAccess): AccessTokenPlan {
  return {
    ...planForm(context.settings, context.box),
    audience: requestedAudience(context, requested.audience),
    scope: requested.scope === undefined ? null : firstScope(context, requested.scope),
  };
}

/** Returns the scope of a first token: no `offline_access` without a refresh token (OpenID Connect Core §11). */
function firstScope(context: PlanContext, requested: string): string | null {
  const scope = requestedScope(requested, allowedScopes(context), notIgnored(context));
  if (context.settings.refresh_token === true || !hasScope(scope, OFFLINE_SCOPE)) return scope;
  return scopeText(scopesOf(scope).filter((one) => one !== OFFLINE_SCOPE));
}

const thirtyDays = 30 * 86_400;

/** Plans the form and the lifetime of an access token, which depend on settings only. */
export function planForm(
  settings: GrantSettings,
  box: Box,
): Pick<AccessTokenPlan, 'format' | 'lifetime' | 'expiresIn'> {
  const configured = settings.access_token_expiration ?? box.tokens?.default_access_token_expiration;
  return {
    format: settings.token_format ?? 'opaque',
    lifetime: configured ?? box.tokens?.default_lifetime ?? thirtyDays,
    expiresIn: configured,
  };
}

/**
 * Plans the access token of a code or a refresh token: bound to the audience and scope that were granted, less what the
 * client may no longer request. Throws OAuthError `invalid_target` or `invalid_scope`.
 */
export function planGrantedToken(context: PlanContext, requested: RequestedAccess, granted: Granted): AccessTokenPlan {
  const audience = boundAudience(context, requested.audience, granted.audience);
  const plan = planAccessToken(context, { audience, scope: undefined });
  return { ...plan, scope: grantedScope(context, requested.scope, granted.scope) };
}

/** Plans the access token of a refresh like {@link planGrantedToken}; the response always has `expires_in`. */
export function planRefreshedToken(
  context: PlanContext,
  requested: RequestedAccess,
  granted: Granted,
): AccessTokenPlan {
  const plan = planGrantedToken(context, requested, granted);
  return { ...plan, expiresIn: plan.lifetime };
}

function allowedScopes({ scopes, subject }: PlanContext): Scopes {
  return scopes[subject];
}

/** Returns the scopes that are not ignored; undefined: all, because the box rejects those that it does not know. */
function notIgnored({ scopes, box }: PlanContext): Scopes | undefined {
  return box.tokens?.reject_unknown_scope === true ? undefined : knownScopes(scopes, box);
}

/** Returns the scope of a use of a grant: as requested, out of what is left of the granted scope (RFC 6749 §6). */
function grantedScope(context: PlanContext, requested: string | undefined, granted: string | null): string | null {
  const left = scopeLeft(granted, allowedScopes(context));
  if (requested === undefined) return left;
  const words = scopesOf(left);
  const scope = requestedScope(requested, new Set(words), notIgnored(context));
  return scope && scopeText([scope, ...requestedClaims(words).map(claimWord)]);
}
