import type { Person } from '../../db/user.ts';
import { GROUPS_SCOPE } from '../../box/scopes.ts';
import { asksForIdToken, hasScope, scopesOf } from '../scope-text.ts';
import { checkBearer } from '../session/check-token.ts';
import type { OAuthServices } from '../services.ts';

/** Claims about a user; members as OpenID Connect Core §5.1 names them. */
export type UserClaims = Readonly<Record<string, unknown>>;

type IsClaim = (value: unknown) => boolean;

const text: IsClaim = (value) => typeof value === 'string';
const flag: IsClaim = (value) => typeof value === 'boolean';
const seconds: IsClaim = (value) => typeof value === 'number' && value >= 0;

/** OpenID Connect Core §5.1.1. */
const addressMembers = ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country'];
const address: IsClaim = (value) =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).every(([name, member]) => addressMembers.includes(name) && text(member));

/** Claims of each scope (OpenID Connect Core §5.4) that come from a user's `data`, with a check of each value. */
const claimsInData: Readonly<Record<string, Readonly<Record<string, IsClaim>>>> = {
  profile: {
    name: text,
    family_name: text,
    given_name: text,
    middle_name: text,
    nickname: text,
    preferred_username: text,
    profile: text,
    picture: text,
    website: text,
    gender: text,
    birthdate: text,
    zoneinfo: text,
    locale: text,
    updated_at: seconds,
  },
  address: { address },
  phone: { phone_number: text, phone_number_verified: flag },
};

/** Every claim that {@link userClaims} can give, with the scope that has it. */
export const SCOPE_OF_CLAIM: ReadonlyMap<string, string> = new Map([
  ...(['email', 'email_verified'] as const).map((name) => [name, 'email'] as const),
  ...Object.entries(claimsInData).flatMap(([scope, claims]) =>
    Object.keys(claims).map((name) => [name, scope] as const),
  ),
  [GROUPS_SCOPE, GROUPS_SCOPE],
]);

/**
 * Returns the claims that a scope gives a client about a user (OpenID Connect Core §5.4), and those of the names that
 * it `asked` for (§5.5): the email, the groups, and the members of `data` that have the name and the type of a standard
 * claim. `name` and `preferred_username` are the email if `data` has none. `email_verified` is absent if nobody says
 * so: an administrator gave the email.
 */
export function userClaims(person: Person, scope: string, asked: readonly string[] = []): UserClaims {
  const { email, email_verified, data } = person;
  const scopes = scopesOf(scope);
  const isWanted = (name: string): boolean => scopes.includes(SCOPE_OF_CLAIM.get(name) ?? '') || asked.includes(name);
  const known = objectIn(data);
  const found = Object.values(claimsInData)
    .flatMap((claims) => Object.entries(claims))
    .filter(([name, isValid]) => isWanted(name) && isValid(known.get(name)));
  return {
    ...(isWanted('email') ? { email } : {}),
    ...(isWanted('email_verified') && email_verified !== null ? { email_verified } : {}),
    ...(isWanted('name') ? { name: email } : {}),
    ...(isWanted('preferred_username') ? { preferred_username: email } : {}),
    ...Object.fromEntries(found.map(([name]) => [name, known.get(name)])),
    ...(isWanted(GROUPS_SCOPE) ? groupsClaim(person, GROUPS_SCOPE) : {}),
  };
}

/** The claim `groups`: names of the groups that a user is in now, in the order of their ids. */
export type GroupsClaim = Readonly<Partial<Record<'groups', readonly string[]>>>;

/** Returns the claim `groups` if the scope has it (RFC 9068 §2.2.3.1). Nobody's groups are told without a user. */
export function groupsClaim(person: Pick<Person, 'groups'> | null, scope: string | null): GroupsClaim {
  if (person === null || !hasScope(scope, GROUPS_SCOPE)) return {};
  return { groups: person.groups?.map(({ name }) => name) ?? [] };
}

function objectIn(data: string | null): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = data === null ? null : JSON.parse(data);
    return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  } catch {
    // The text was checked before it was stored. If it is not JSON all the same, it has no claims.
    return new Map();
  }
}

/** Answer to a token: `invalid` when it is not valid, `insufficient` when it has no user or no scope `openid`. */
export type UserInfo =
  | { readonly verdict: 'invalid' }
  | { readonly verdict: 'insufficient' }
  | { readonly verdict: 'good'; readonly client: string; readonly claims: UserClaims };

/**
 * Returns the claims of the user who let a client have this access token (OpenID Connect Core §5.3.2). Needs no policy:
 * the user agreed. Undefined when there is no such box. Throws Outage.
 */
export function userInfo(box: string, token: string, services: OAuthServices): Promise<UserInfo | undefined> {
  return services.states.decide<UserInfo>(box, async (state, statements) => {
    const live = await checkBearer(token, { state, statements, services });
    if (live === undefined) return { verdict: 'invalid' };
    const { user, scope, claims, client } = live;
    if (user === null || scope === null || !asksForIdToken(scope)) return { verdict: 'insufficient' };
    return { verdict: 'good', client: client.id, claims: { sub: String(user.id), ...userClaims(user, scope, claims) } };
  });
}
