import type { Box } from '../../../crds/box.ts';
import { ONE_LINE } from '../../../crds/fields.ts';
import type { RequestableScopes, TokenSubject } from '../../state/requestable-scopes.ts';
import { OAuthError } from '../oauth-error.ts';

/** The settings that every grant of a client has in common. */
export interface GrantSettings {
  readonly token_format?: 'jwt';
  readonly access_token_expiration?: number;
  readonly audience?: readonly string[];
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

/** The optional parameters of a token request that shape its token. */
export interface Asked {
  readonly audience: string | undefined;
  readonly scope: string | undefined;
}

/** Audience and scope that were granted first; no refresh ever gets more (RFC 6749 §6). */
export type Granted = Pick<AccessTokenPlan, 'audience' | 'scope'>;

/** The settings and the subject that a token is planned for. */
export interface PlanContext {
  /** Settings of the grant. */
  readonly settings: GrantSettings;
  /** Scopes that the client may request. */
  readonly scopes: RequestableScopes;
  readonly box: Box;
  readonly issuer: string;
  readonly subject: TokenSubject;
}

/** Plans an access token. Throws OAuthError `invalid_target` (RFC 8707 §2) or `invalid_scope` (RFC 6749 §5.2). */
export function planAccessToken(context: PlanContext, asked: Asked): AccessTokenPlan {
  return {
    ...planForm(context.settings, context.box),
    audience: plannedAudience(context, asked.audience),
    scope: asked.scope === undefined ? null : scopesAsked(asked.scope, allowedScopes(context)).join(' '),
  };
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
export function planGrantedToken(context: PlanContext, asked: Asked, granted: Granted): AccessTokenPlan {
  const plan = planAccessToken(context, { audience: boundAudience(context, asked, granted), scope: undefined });
  return { ...plan, scope: scopeLeft(allowedScopes(context), asked.scope, granted.scope) };
}

/** Plans the access token of a refresh like {@link planGrantedToken}; the response always has `expires_in`. */
export function planRefreshedToken(context: PlanContext, asked: Asked, granted: Granted): AccessTokenPlan {
  const plan = planGrantedToken(context, asked, granted);
  return { ...plan, expiresIn: plan.lifetime };
}

/** Returns the granted audience, otherwise never the default of a client that lists audiences by now. */
function boundAudience({ settings, subject, issuer }: PlanContext, asked: Asked, granted: Granted): string | undefined {
  const [audience] = granted.audience ?? [];
  if (asked.audience !== undefined && asked.audience !== (audience ?? issuer)) {
    throw new OAuthError('invalid_target', 'The audience is not the one that was granted');
  }
  return audience ?? (subject === 'client' && settings.audience === undefined ? asked.audience : issuer);
}

function allowedScopes({ scopes, subject }: PlanContext): ReadonlySet<string> {
  return scopes[subject];
}

const longestAudience = 1024;
const oneLine = new RegExp(ONE_LINE);

function plannedAudience(
  { settings, subject, issuer }: PlanContext,
  asked: string | undefined,
): readonly string[] | null {
  const allowed = settings.audience;
  if (asked === undefined) return allowed?.[0] === undefined ? null : [allowed[0]];
  if (asked.length > longestAudience || !oneLine.test(asked)) {
    throw new OAuthError('invalid_target', `The audience must be one line of at most ${longestAudience} characters`);
  }
  if (allowed === undefined && subject !== 'client' && asked === issuer) return null;
  if (!(allowed?.includes(asked) ?? subject === 'client')) {
    throw new OAuthError('invalid_target', 'The client may not ask for this audience');
  }
  return [asked];
}

const longestScope = 4096;
const scopeShape = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** Reads the requested scopes. Throws OAuthError `invalid_scope` unless all of them are allowed (RFC 6749 §3.3). */
function scopesAsked(asked: string, allowed: ReadonlySet<string>): readonly string[] {
  if (asked.length > longestScope || !scopeShape.test(asked)) {
    throw new OAuthError('invalid_scope', 'The scope is malformed');
  }
  const scopes = [...new Set(asked.split(' '))];
  if (scopes.every((scope) => allowed.has(scope))) return scopes;
  throw new OAuthError('invalid_scope', 'The client may not ask for one of these scopes');
}

function scopeLeft(allowedNow: ReadonlySet<string>, asked: string | undefined, granted: string | null): string | null {
  const before = granted?.split(' ') ?? [];
  const allowed = before.filter((scope) => allowedNow.has(scope));
  if (asked !== undefined) return scopesAsked(asked, new Set(allowed)).join(' ');
  if (before.length > 0 && allowed.length === 0) {
    throw new OAuthError('invalid_scope', 'The client may ask for none of the granted scopes any more');
  }
  return allowed.length === 0 ? null : allowed.join(' ');
}
