import type { Client, ServiceAccount } from './client.ts';
import { PRIVATE_MEMBERS, RSA_MODULUS } from './json-web-keys.ts';
import { brokenElements, when, type Draft, type Rule } from './rule.ts';
import { ARGON2ID_HASH, isCostlyHash, STORED_ELSEWHERE, storedForm } from './secret-text.ts';
import { WEB_ADDRESS, REDIRECT_ADDRESS, USER_INFORMATION } from './uri.ts';

/** Rules for redirect URIs at registration (RFC 9700 §4.1, RFC 8252 §7 and §8): four for each place. */
const redirectRules: readonly Rule<Draft<Client>>[] = [
  ...rulesOfGrant('implicit'),
  ...rulesOfGrant('authorization_code'),
  ...rulesAt({
    id: 'post-logout',
    path: 'post_logout_redirect_uris',
    cel: (holds) => `!has(self.post_logout_redirect_uris) || self.post_logout_redirect_uris.all(u, ${holds('u')})`,
    broken: (client, isBroken) =>
      brokenElements(client.post_logout_redirect_uris, 'post_logout_redirect_uris', isBroken),
  }),
];

/** Returns the rules for `redirect_uri` and for `redirect_uris` in the settings of a grant. */
function rulesOfGrant(grant: 'implicit' | 'authorization_code'): Rule<Draft<Client>>[] {
  const settings = `self.auth.${grant}`;
  const isAbsent = `!has(self.auth) || !has(${settings})`;
  const [one, list] = [`auth.${grant}.redirect_uri`, `auth.${grant}.redirect_uris`];
  const id = grant.replace('_', '-');
  return [
    ...rulesAt({
      id,
      path: one,
      cel: (holds) => `${isAbsent} || !has(self.${one}) || ${holds(`self.${one}`)}`,
      broken: ({ auth }, isBroken) => brokenField(auth?.[grant]?.redirect_uri, one, isBroken),
    }),
    ...rulesAt({
      id: `${id}-list`,
      path: list,
      cel: (holds) => `${isAbsent} || !has(self.${list}) || self.${list}.all(u, ${holds('u')})`,
      broken: ({ auth }, isBroken) => brokenElements(auth?.[grant]?.redirect_uris, list, isBroken),
    }),
  ];
}

interface Place {
  readonly id: string;
  readonly path: string;
  readonly cel: (holds: (uri: string) => string) => string;
  readonly broken: (client: Draft<Client>, isBroken: (uri: string) => boolean) => readonly string[];
}

function rulesAt(place: Place): Rule<Draft<Client>>[] {
  return [
    {
      id: `${place.id}-redirect-address`,
      path: place.path,
      message:
        'must be https://<host>, or http on loopback (127.0.0.1, [::1], localhost), or a private-use scheme with a dot such as com.example.app:/callback (RFC 8252 section 7)',
      cel: place.cel((uri) => `${uri}.matches(r'${REDIRECT_ADDRESS}')`),
      broken: (client) => place.broken(client, (uri) => !REDIRECT.test(uri)),
    },
    {
      id: `${place.id}-redirect-fragment`,
      path: place.path,
      message: 'must not contain a fragment (RFC 6749 section 3.1.2)',
      cel: place.cel((uri) => `!${uri}.contains('#')`),
      broken: (client) => place.broken(client, (uri) => uri.includes('#')),
    },
    {
      id: `${place.id}-redirect-user`,
      path: place.path,
      message: 'must not contain a user name before the host',
      cel: place.cel((uri) => `!${uri}.matches(r'${USER_INFORMATION}')`),
      broken: (client) => place.broken(client, (uri) => USER.test(uri)),
    },
    {
      id: `${place.id}-redirect-wildcard`,
      path: place.path,
      message: 'must not contain a wildcard: the whole string is compared (RFC 9700 section 4.1.3)',
      cel: place.cel((uri) => `!${uri}.contains('*')`),
      broken: (client) => place.broken(client, (uri) => uri.includes('*')),
    },
  ];
}

const REDIRECT = new RegExp(REDIRECT_ADDRESS, 'u');
const USER = new RegExp(USER_INFORMATION, 'u');

function brokenField(uri: string | undefined, path: string, isBroken: (uri: string) => boolean): string[] {
  return uri !== undefined && isBroken(uri) ? [path] : [];
}

type Subject = Draft<Client>;
type Key = NonNullable<Client['jwks']>['keys'][number];

/** Rules about the fields of a Client, the same over REST and in a custom resource. */
export const clientRules: readonly Rule<Subject>[] = [
  {
    id: 'client-id-not-a-number',
    path: 'id',
    message: 'must not be only digits: that is the id of a user (RFC 9700 section 4.15)',
    cel: "!has(self.id) || !self.id.matches('^[0-9]+$')",
    broken: ({ id }) => when(id !== undefined && ONLY_DIGITS.test(id), 'id'),
  },
  {
    id: 'secret-hash-within-bounds',
    path: 'secret',
    message:
      'must be an argon2id PHC string with v=19, m at most 65536, t at most 5, p at most 4, or not begin like one',
    cel: `!has(self.secret) || !self.secret.startsWith('$argon2') || self.secret.matches(r'${ARGON2ID_HASH}')`,
    broken: ({ secret }) => when(typeof secret === 'string' && isCostlyHash(secret), 'secret'),
  },
  {
    id: 'secret-not-stored-elsewhere',
    path: 'secret',
    message:
      'must not be the stored form of another system, such as $2b$, {SSHA} or pbkdf2_sha256$: send the secret itself, or its argon2id PHC string',
    cel: `!has(self.secret) || !self.secret.matches(r'${STORED_ELSEWHERE}')`,
    broken: ({ secret }) => when(typeof secret === 'string' && storedForm(secret) === 'elsewhere', 'secret'),
  },
  ...presenceRules('implicit'),
  ...presenceRules('authorization_code'),
  ...redirectRules,
  ...refreshRules('client_credentials'),
  ...refreshRules('authorization_code'),
  {
    id: 'keys-once',
    path: 'jwks_uri',
    message: 'must not be given together with jwks (RFC 7591 section 2)',
    cel: '!has(self.jwks) || !has(self.jwks_uri)',
    broken: ({ jwks, jwks_uri }) => when(jwks !== undefined && jwks_uri !== undefined, 'jwks_uri'),
  },
  {
    id: 'keys-address',
    path: 'jwks_uri',
    message: 'must be https://<host>, or http on loopback, without a user name or fragment',
    cel: `!has(self.jwks_uri) || self.jwks_uri.matches(r'${WEB_ADDRESS}')`,
    broken: ({ jwks_uri }) => when(jwks_uri !== undefined && !ADDRESS.test(jwks_uri), 'jwks_uri'),
  },
  {
    id: 'keys-public',
    path: 'jwks.keys',
    message: `must be public: the private members ${PRIVATE_MEMBERS.join(', ')} stay with their owner (RFC 7518 section 6)`,
    cel: `!has(self.jwks) || self.jwks.keys.all(k, ${PRIVATE_MEMBERS.map((member) => `!has(k.${member})`).join(' && ')})`,
    broken: ({ jwks }) =>
      PRIVATE_MEMBERS.flatMap((member) => keysWhere(jwks, member, (key) => key[member] !== undefined)),
  },
  {
    id: 'keys-long-enough',
    path: 'jwks.keys',
    message: 'must have 2048 bits or more, in base64url, where it is an RSA key (RFC 7518 section 3.3)',
    cel: `!has(self.jwks) || self.jwks.keys.all(k, k.kty != 'RSA' || !has(k.n) || k.n.matches(r'${RSA_MODULUS}'))`,
    broken: ({ jwks }) => keysWhere(jwks, 'n', ({ kty, n }) => kty === 'RSA' && n !== undefined && !MODULUS.test(n)),
  },
  {
    // The CRD has x-kubernetes-list-map-keys for this.
    id: 'service-accounts-once',
    path: 'service_accounts',
    message: 'must not be given twice',
    broken: ({ service_accounts }) => repeated(service_accounts ?? []),
  },
];

/**
 * Demands a redirect URI of a grant that redirects: of one that is listed, and of the settings of any. The code grant
 * takes a list in its place.
 */
function presenceRules(grant: 'implicit' | 'authorization_code'): Rule<Subject>[] {
  const settings = `self.auth.${grant}`;
  const path = `auth.${grant}.redirect_uri`;
  const name = grant.replace('_', '-');
  const takesList = grant === 'authorization_code';
  const message = takesList ? 'must be given, or redirect_uris' : 'must be given';
  return [
    {
      id: `${name}-needs-redirect`,
      path,
      message: takesList ? `${message}, when grant_types has ${grant}` : `${message} when grant_types has ${grant}`,
      cel: `!('${grant}' in self.grant_types) || (has(self.auth) && has(${settings}))`,
      broken: ({ grant_types, auth }) => when(lists(grant_types, grant) && auth?.[grant] === undefined, path),
    },
    {
      id: `${name}-settings-need-redirect`,
      path,
      message,
      cel: `!has(self.auth) || !has(${settings}) || has(${settings}.redirect_uri)${takesList ? ` || has(${settings}.redirect_uris)` : ''}`,
      broken: ({ auth }) => {
        const given = auth?.[grant];
        const isListed = takesList && given?.redirect_uris !== undefined;
        return when(given !== undefined && given.redirect_uri === undefined && !isListed, path);
      },
    },
  ];
}

/** Rejects the lifetime of a refresh token that is never issued: it shows a forgotten `refresh_token: true`. */
function refreshRules(grant: 'client_credentials' | 'authorization_code'): Rule<Subject>[] {
  const settings = `self.auth.${grant}`;
  const path = `auth.${grant}.refresh_token_expiration`;
  return [
    {
      id: `${grant.replace('_', '-')}-refresh-expiration`,
      path,
      message: 'must not be given without refresh_token: true',
      cel: `!has(self.auth) || !has(${settings}) || !has(${settings}.refresh_token_expiration) || (has(${settings}.refresh_token) && ${settings}.refresh_token)`,
      broken: ({ auth }) => {
        const given = auth?.[grant];
        return when(given?.refresh_token_expiration !== undefined && given.refresh_token !== true, path);
      },
    },
  ];
}

/** Returns the paths of a member of the keys for which `isBroken` is true. */
function keysWhere(jwks: Subject['jwks'], member: string, isBroken: (key: Draft<Key>) => boolean): string[] {
  return brokenElements(jwks?.keys, 'jwks.keys', isBroken).map((path) => `${path}.${member}`);
}

function repeated(accounts: readonly Draft<ServiceAccount>[]): string[] {
  const seen = new Set<string>();
  return brokenElements(accounts, 'service_accounts', ({ namespace, name }) => {
    const key = `${namespace ?? ''}/${name ?? ''}`;
    return seen.size === seen.add(key).size;
  });
}

function lists(grants: readonly string[] | undefined, grant: string): boolean {
  return grants?.includes(grant) ?? false;
}

const ONLY_DIGITS = /^[0-9]+$/;
const MODULUS = new RegExp(RSA_MODULUS, 'u');
const ADDRESS = new RegExp(WEB_ADDRESS, 'u');
