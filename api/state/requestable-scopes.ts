import type { Client } from '../../crds/client.ts';

/** The scope of a token that acts in its user's name on the box's own endpoints, as far as the user's rights allow. */
export const BOXGATE_SCOPE = 'boxgate';

/** The subject of a token: the client itself, a user who signed in, or a user whose password the client sent. */
export type TokenSubject = 'client' | 'user' | 'user-by-password';

/** The scopes that a client may request, by the subject of the token. */
export type RequestableScopes = Readonly<Record<TokenSubject, ReadonlySet<string>>>;

/**
 * Returns the scopes that a client may request (RFC 6749 §3.3). If a client sends the password, no user consents: then
 * `boxgate` needs a client that lists it and that an object declares.
 */
export function requestableScopes({ scope }: Pick<Client, 'scope'>, isManaged: boolean): RequestableScopes {
  if (scope === undefined) return standard;
  const all = new Set(scope);
  if (!all.has(BOXGATE_SCOPE)) return { client: all, user: all, 'user-by-password': all };
  const narrow = new Set(scope.filter((one) => one !== BOXGATE_SCOPE));
  return { client: narrow, user: all, 'user-by-password': isManaged ? all : narrow };
}

/** Returns the scope of a user's token that is requested without one (RFC 6749 §3.3); undefined when there is none. */
export function defaultScope({ user }: RequestableScopes): string | undefined {
  return user.has(BOXGATE_SCOPE) ? BOXGATE_SCOPE : undefined;
}

/** Scopes of a client without `scope` (OpenID Connect Core §5.4, §11). */
const openIdScopes: readonly string[] = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access'];

const withoutRights: ReadonlySet<string> = new Set(openIdScopes);
const standard: RequestableScopes = {
  client: withoutRights,
  user: new Set([...openIdScopes, BOXGATE_SCOPE]),
  'user-by-password': withoutRights,
};
