import type { Person } from '../../db/hot-statements.ts';

/** The claims of a person; members as OpenID Connect Core §5.1 names them. */
export type UserClaims = Readonly<Record<string, unknown>>;

type Judge = (value: unknown) => boolean;

const text: Judge = (value) => typeof value === 'string';
const flag: Judge = (value) => typeof value === 'boolean';
const seconds: Judge = (value) => typeof value === 'number' && value >= 0;

/** OpenID Connect Core §5.1.1. */
const addressMembers = ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country'];
const address: Judge = (value) =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).every(([name, member]) => addressMembers.includes(name) && text(member));

/** The claims that a scope asks for (OpenID Connect Core §5.4) and that stand in a user's `data`, with what each must be. */
const claimsInData: Readonly<Record<string, Readonly<Record<string, Judge>>>> = {
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

/** Every claim that {@link userClaims} can give. */
export const USER_CLAIMS: readonly string[] = [
  ...['email', 'email_verified'],
  ...Object.values(claimsInData).flatMap((claims) => Object.keys(claims)),
];

/**
 * What a scope lets a client know of a person (OpenID Connect Core §5.4): the email, and of what else there is the members of
 * `data` that have the name and the type of a standard claim. No email is verified: none is sent.
 */
export function userClaims({ email, data }: Pick<Person, 'email' | 'data'>, scope: string): UserClaims {
  const scopes = scope.split(' ');
  const known = objectIn(data);
  const found = scopes.flatMap((one) =>
    Object.entries(claimsInData[one] ?? {}).filter(([name, isValid]) => isValid(known.get(name))),
  );
  return {
    ...(scopes.includes('email') ? { email, email_verified: false } : {}),
    ...Object.fromEntries(found.map(([name]) => [name, known.get(name)])),
  };
}

function objectIn(data: string | null): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = data === null ? null : JSON.parse(data);
    return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  } catch {
    // Stored as text that was judged when it was set: what is no JSON all the same tells nothing.
    return new Map();
  }
}
