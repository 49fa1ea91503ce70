import { accepted, letters, refused, type Refused, type Row, type Spec } from './row.ts';

/** Settings of a box about scopes and audiences. */
export const boxScopeRows: readonly Row[] = [
  ...accepted('Box', {
    'scopes of its own': {
      scopes: {
        'orders.read': { en: 'see your orders', de: 'Ihre Bestellungen sehen' },
        'https://api.example.com/orders:write': { en: 'place <b>orders</b> in your name' },
        [letters(128)]: { en: letters(256), de: letters(256) },
        OpenID: { en: 'something else: scopes are compared with their case' },
      },
      tokens: { reject_unknown_scope: true },
    },
    'audiences that must be listed': { tokens: { require_listed_audience: true } },
    'no scopes of its own': { scopes: {}, tokens: { reject_unknown_scope: false } },
    'as many scopes as there may be': { scopes: scopes(64) },
  }),
  ...refused('Box', {
    'unknown scopes rejected by a word': [{ tokens: { reject_unknown_scope: 'yes' } }, 'tokens.reject_unknown_scope'],
    'audiences listed by a word': [{ tokens: { require_listed_audience: 'on' } }, 'tokens.require_listed_audience'],
    'scopes as a list': [{ scopes: ['orders.read'] }, 'scopes'],
    'too many scopes': [{ scopes: scopes(65) }, 'scopes'],
    ...reserved(),
    ...name('with a blank', 'orders read'),
    ...name('with a quote', 'orders"read'),
    ...name('with a backslash', 'orders\\read'),
    ...name('that is not ASCII', 'größe'),
    ...name('of nothing', ''),
    ...name('that is too long', letters(129)),
    'a scope with a text alone': [{ scopes: { read: 'see' } }, 'scopes.read'],
    'a scope without a sentence': [{ scopes: { read: {} } }, 'scopes.read.en'],
    'a scope with a German sentence alone': [{ scopes: { read: { de: 'sehen' } } }, 'scopes.read.en'],
    'a scope in a language nobody knows': [{ scopes: { read: { en: 'see', fr: 'voir' } } }, 'scopes.read.fr'],
    ...sentence('of nothing', ''),
    ...sentence('of two lines', 'see\nyour orders'),
    ...sentence('that is too long', letters(257)),
    ...sentence('that is a number', 1),
  }),
];

function scopes(count: number): Spec {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`scope-${index}`, { en: 'see' }]));
}

function reserved(): Record<string, Refused> {
  const names = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access', 'groups', 'boxgate'];
  return Object.fromEntries(names.map((one) => [`the scope ${one}`, [{ scopes: { [one]: { en: 'see' } } }, 'scopes']]));
}

function name(title: string, one: string): Record<string, Refused> {
  return { [`a scope ${title}`]: [{ scopes: { read: { en: 'see' }, [one]: { en: 'see' } } }, 'scopes'] };
}

function sentence(title: string, text: unknown): Record<string, Refused> {
  return {
    [`a sentence ${title}`]: [{ scopes: { read: { en: text } } }, 'scopes.read.en'],
    [`a German sentence ${title}`]: [{ scopes: { read: { en: 'see', de: text } } }, 'scopes.read.de'],
  };
}
