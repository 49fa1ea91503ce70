import type { Client } from './client.ts';
import { brokenElements, type Draft, type Rule } from './rule.ts';
import { REDIRECT_ADDRESS, USER_INFORMATION } from './uri.ts';

/** Rules for redirect URIs at registration (RFC 9700 §4.1, RFC 8252 §7 and §8): four for each place. */
export const redirectRules: readonly Rule<Draft<Client>>[] = [
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
