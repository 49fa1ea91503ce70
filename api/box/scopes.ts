import type { Client } from '../../crds/client.ts';
import { STANDARD_SCOPES, RESERVED_SCOPES } from '../../crds/uri.ts';
import type { Box } from '../../crds/box.ts';

/** Scopes that can be looked up. */
export type Scopes = Pick<ReadonlySet<string>, 'has'>;

/**
 * Returns the scopes that a box knows in a request of a client: the {@link RESERVED_SCOPES}, those that the Box
 * declares, and those that the client itself lists. Lists of other clients have no influence, so no answer tells of
 * them. A box ignores any other scope (OpenID Connect Core §3.1.2.1).
 */
export function knownScopes(requestable: RequestableScopes, { scopes = {} }: Pick<Box, 'scopes'>): Scopes {
  return { has: (scope) => reserved.has(scope) || Object.hasOwn(scopes, scope) || requestable.user.has(scope) };
}

const reserved: ReadonlySet<string> = new Set(RESERVED_SCOPES);

/** The scope of a token that acts in its user's name on the box's own endpoints, as far as the user's rights allow. */
export const BOXGATE_SCOPE = 'boxgate';

/** The scope of a token that tells the names of its user's groups. */
export const GROUPS_SCOPE = 'groups';

/** The scope of a token whose client may refresh it while the user is away (OpenID Connect Core §11). */
export const OFFLINE_SCOPE = 'offline_access';

/** The subject of a token: the client itself, a user who signed in, or a user whose password the client sent. */
export type TokenSubject = 'client' | 'user' | 'user-by-password';

/** The scopes that a client may request, by the subject of the token. */
export type RequestableScopes = Readonly<Record<TokenSubject, ReadonlySet<string>>>;

/**
 * Returns the scopes that a client may request (RFC 6749 §3.3). If a client sends the password, no user consents: then
 * `boxgate` needs a client that lists it and that an object declares. A client that gets refresh tokens need not list
 * `offline_access`.
 */
export function requestableScopes(
  { scope, auth }: Pick<Client, 'scope' | 'auth'>,
  isManaged: boolean,
): RequestableScopes {
  if (scope === undefined) return standard;
  const narrow = scope.filter((one) => one !== BOXGATE_SCOPE);
  return {
    client: new Set(withOffline(narrow, auth?.client_credentials?.refresh_token)),
    user: new Set(withOffline(scope, auth?.authorization_code?.refresh_token)),
    'user-by-password': new Set(isManaged ? scope : narrow),
  };
}

function withOffline(scope: readonly string[], refreshes: boolean | undefined): readonly string[] {
  return refreshes === true ? [...scope, OFFLINE_SCOPE] : scope;
}

/**
 * Returns the scope of a user's token that is requested without one (RFC 6749 §3.3), as far as the client may request
 * it; undefined when there is none. With `openid` the userinfo endpoint answers. The password grant gives the user's
 * rights only on request.
 */
export function defaultScope(requestable: RequestableScopes, subject: 'user' | 'user-by-password'): string | undefined {
  const wanted = subject === 'user' ? ['openid', BOXGATE_SCOPE] : ['openid'];
  const scopes = wanted.filter((scope) => requestable[subject].has(scope));
  return scopes.length === 0 ? undefined : scopes.join(' ');
}

/** Scopes of a client without `scope`. */
const withoutRights: ReadonlySet<string> = new Set(STANDARD_SCOPES);
const standard: RequestableScopes = {
  client: withoutRights,
  user: new Set([...STANDARD_SCOPES, BOXGATE_SCOPE]),
  'user-by-password': withoutRights,
};
