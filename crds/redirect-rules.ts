import type { Client } from './client.ts';
import { brokenElements, type Draft, type Rule } from './rule.ts';
import { REDIRECT_ADDRESS, USER_INFORMATION } from './uri.ts';

/** Rules for redirect URIs at registration (RFC 9700 §4.1, RFC 8252 §7 and §8): four for each place. */
export const redirectRules: readonly Rule<Draft<Client>>[] = [
  ...rulesAt({
    id: 'implicit',
    path: 'auth.implicit.redirect_uri',
    cel: (holds) => `!has(self.auth) || !has(self.auth.implicit) || ${holds('self.auth.implicit.redirect_uri')}`,
    broken: (client, isBroken) =>
      brokenField(client.auth?.implicit?.redirect_uri, 'auth.implicit.redirect_uri', isBroken),
  }),
  ...rulesAt({
    id: 'authorization-code',
    path: 'auth.authorization_code.redirect_uri',
    cel: (holds) =>
      `!has(self.auth) || !has(self.auth.authorization_code) || ${holds('self.auth.authorization_code.redirect_uri')}`,
    broken: (client, isBroken) =>
      brokenField(client.auth?.authorization_code?.redirect_uri, 'auth.authorization_code.redirect_uri', isBroken),
  }),
  ...rulesAt({
    id: 'post-logout',
    path: 'post_logout_redirect_uris',
    cel: (holds) => `!has(self.post_logout_redirect_uris) || self.post_logout_redirect_uris.all(u, ${holds('u')})`,
    broken: (client, isBroken) =>
      brokenElements(client.post_logout_redirect_uris, 'post_logout_redirect_uris', isBroken),
  }),
];

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
