import type { Box } from '../../crds/box.ts';
import type { Client } from '../../crds/client.ts';
import { ONE_LINE } from '../../crds/fields.ts';
import { OAuthError } from './oauth-error.ts';

/** The settings that every grant of a client has in common. */
export interface GrantSettings {
  readonly token_format?: 'jwt';
  readonly access_token_expiration?: number;
  readonly audience?: readonly string[];
}

/** What an access token is going to be. Lifetimes in seconds. */
export interface AccessTokenPlan {
  readonly format: 'opaque' | 'jwt';
  readonly lifetime: number;
  /** Shown as `expires_in`: only when somebody configured a lifetime. */
  readonly expiresIn: number | undefined;
  readonly audience: readonly string[] | null;
  readonly scope: string | null;
}

/** The optional parameters of a token request that shape its token. */
export interface Asked {
  readonly audience: string | undefined;
  readonly scope: string | undefined;
}

/** What a refresh family was granted at first: no refresh ever gets more (RFC 6749 §6). */
export type Granted = Pick<AccessTokenPlan, 'audience' | 'scope'>;

const thirtyDays = 30 * 86_400;

/** Plans an access token. Throws OAuthError `invalid_target` (RFC 8707 §2) or `invalid_scope` (RFC 6749 §5.2). */
export function planAccessToken(settings: GrantSettings, client: Client, box: Box, asked: Asked): AccessTokenPlan {
  const configured = settings.access_token_expiration ?? box.tokens?.default_access_token_expiration;
  return {
    format: settings.token_format ?? 'opaque',
    lifetime: configured ?? box.tokens?.default_lifetime ?? thirtyDays,
    expiresIn: configured,
    audience: plannedAudience(settings, asked.audience),
    scope: asked.scope === undefined ? null : scopesAsked(asked.scope, allowedScopes(client)).join(' '),
  };
}

/**
 * Plans the access token of a refresh: bound to the audience and scope granted at first, less what the client may not
 * ask for any more. Always shows when it ends. Throws OAuthError `invalid_target` or `invalid_scope`.
 */
export function planRefreshedToken(
  settings: GrantSettings,
  client: Client,
  box: Box,
  asked: Asked,
  granted: Granted & { readonly issuer: string },
): AccessTokenPlan {
  const [audience] = granted.audience ?? [];
  if (asked.audience !== undefined && asked.audience !== (audience ?? granted.issuer)) {
    throw new OAuthError('invalid_target', 'The audience is not the one granted at first');
  }
  const plan = planAccessToken(settings, client, box, { audience: asked.audience ?? audience, scope: undefined });
  return { ...plan, expiresIn: plan.lifetime, scope: refreshedScope(client, asked.scope, granted.scope) };
}

const longestAudience = 1024;
const oneLine = new RegExp(ONE_LINE);

function plannedAudience(settings: GrantSettings, asked: string | undefined): readonly string[] | null {
  const allowed = settings.audience;
  if (asked === undefined) return allowed?.[0] === undefined ? null : [allowed[0]];
  if (asked.length > longestAudience || !oneLine.test(asked)) {
    throw new OAuthError('invalid_target', `The audience must be one line of at most ${longestAudience} characters`);
  }
  if (allowed !== undefined && !allowed.includes(asked)) {
    throw new OAuthError('invalid_target', 'The client may not ask for this audience');
  }
  return [asked];
}

/** What a client without `scope` may ask for (OpenID Connect Core §5.4, §11). */
const standardScopes: readonly string[] = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access'];

function allowedScopes(client: Client): readonly string[] {
  return client.scope ?? standardScopes;
}

const longestScope = 4096;
const scopeShape = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** Only what is asked for is granted, and only what is allowed (RFC 6749 §3.3). */
function scopesAsked(asked: string, allowed: readonly string[]): readonly string[] {
  if (asked.length > longestScope || !scopeShape.test(asked)) {
    throw new OAuthError('invalid_scope', 'The scope is malformed');
  }
  const scopes = [...new Set(asked.split(' '))];
  if (scopes.every((scope) => allowed.includes(scope))) return scopes;
  throw new OAuthError('invalid_scope', 'The client may not ask for one of these scopes');
}

function refreshedScope(client: Client, asked: string | undefined, granted: string | null): string | null {
  const before = granted?.split(' ') ?? [];
  const allowed = before.filter((scope) => allowedScopes(client).includes(scope));
  if (asked !== undefined) return scopesAsked(asked, allowed).join(' ');
  if (before.length > 0 && allowed.length === 0) {
    throw new OAuthError('invalid_scope', 'The client may ask for none of the granted scopes any more');
  }
  return allowed.length === 0 ? null : allowed.join(' ');
}
