import { accepted, letters, refused, type Row } from './row.ts';

const GOOD = [
  'https://app.example.com',
  'https://app.example.com/',
  'https://app.example.com/callback?tenant=a&next=%2Fhome',
  'https://App.Example.com/Callback',
  'https://app.example.com:8443/callback',
  'https://app.example.com:65535/callback',
  'https://10.0.0.1/callback',
  'https://[2001:db8::1]:8443/callback',
  'https://xn--bcher-kva.example/callback',
  "https://app.example.com/a;b=(c)!$&'+,=:@~/..",
  'https://localhost/callback',
  'http://127.0.0.1/callback',
  'http://127.0.0.1:51004/callback',
  'http://[::1]:51004/callback',
  'http://localhost:3000/callback',
  'http://localhost:8000',
  'http://localhost?x=1',
  'com.example.app:/callback',
  'com.example.app://callback/deep',
  'com.example-1.app+x:/callback',
];

/** Addresses that no rule but one refuses, or no rule but the one about the address. */
const BAD = {
  'no address at all': '',
  'a path': '/callback',
  'a host': 'app.example.com/callback',
  'two slashes': '//app.example.com/callback',
  'a host and port without scheme': 'app.example.com:8080/callback',
  'no host': 'https:///callback',
  'https without slashes': 'https:callback',
  'https with one slash': 'https:/app.example.com',
  'http to a host': 'http://app.example.com/callback',
  'http to a host that begins like loopback': 'http://127.0.0.1.example.com/callback',
  'http to a host that begins like localhost': 'http://localhost.example.com/callback',
  'http to another loopback address': 'http://127.0.0.2/callback',
  'http to a user called 127.0.0.1': 'http://127.0.0.1@evil.example/callback',
  'http to a user called 127.0.0.1:80': 'http://127.0.0.1:80@evil.example/callback',
  'http to localhost and a backslash': 'http://localhost\\@evil.example/',
  'a scheme in capitals': 'HTTPS://app.example.com/callback',
  javascript: 'javascript:alert(1)',
  'javascript with slashes': 'javascript://app.example.com/%0aalert(1)',
  JavaScript: 'JavaScript:alert(1)',
  data: 'data:text/html,hello',
  file: 'file:///etc/passwd',
  vbscript: 'vbscript:x',
  'a private-use scheme without a dot': 'myapp://callback',
  'a private-use scheme without a slash': 'com.example.app:callback',
  urn: 'urn:ietf:wg:oauth:2.0:oob',
  'a backslash': 'https://app.example.com\\@evil.example/',
  'a blank in front': ' https://app.example.com/callback',
  'a blank within': 'https://app.example.com/call back',
  'a tab': 'https://app.example.com/\tcallback',
  'a line end': 'https://app.example.com/callback\n',
  'a line end that is encoded badly': 'https://app.example.com/%0',
  'a percent sign alone': 'https://app.example.com/%zz',
  'a NUL that is not encoded': 'https://app.example.com/\u0001',
  'an IDN host': 'https://bücher.example/callback',
  'a path that is not ASCII': 'https://app.example.com/größe',
  'a quote': 'https://app.example.com/"',
  'angle brackets': 'https://app.example.com/<script>',
  'a host with an underscore': 'https://app_1.example.com/',
  'a host that begins with a hyphen': 'https://-app.example.com/',
  'a host with two dots': 'https://app..example.com/',
  'port 0': 'https://app.example.com:0/',
  'port 65536': 'https://app.example.com:65536/',
  'a port that is no number': 'https://app.example.com:https/',
  'port 99999 of loopback': 'http://127.0.0.1:99999/',
  'a wildcard for the host': 'https://*.example.com/callback',
  'a wildcard in the path': 'https://app.example.com/*',
  'a fragment': 'https://app.example.com/callback#here',
  'an empty fragment': 'https://app.example.com/callback#',
  'a fragment of loopback': 'http://127.0.0.1/#here',
  'a fragment of a private-use scheme': 'com.example.app:/callback#here',
  'a wildcard of a private-use scheme': 'com.example.app:/*',
  'a user': 'https://someone@app.example.com/callback',
  'a user and a password': 'https://someone:secret@app.example.com/callback',
  'an empty user': 'https://@app.example.com/callback',
  'two users': 'https://a@b@app.example.com/',
  'one character too much': `https://app.example.com/${letters(2025)}`,
} as const;

const one = 'https://one.example/';

/** Every redirect URI in each of the places where a client has one. */
export const redirectUriRows: readonly Row[] = [
  ...GOOD.flatMap((uri) => [
    ...accepted('Client', {
      [`implicit: ${uri}`]: { grant_types: ['implicit'], auth: { implicit: { redirect_uri: uri } } },
      [`authorization_code: ${uri}`]: { auth: { authorization_code: { redirect_uri: uri } } },
      [`the list of implicit: ${uri}`]: {
        grant_types: ['implicit'],
        auth: { implicit: { redirect_uri: one, redirect_uris: [uri] } },
      },
      [`the list of authorization_code: ${uri}`]: { auth: { authorization_code: { redirect_uris: [uri] } } },
      [`after signing out: ${uri}`]: { post_logout_redirect_uris: [uri] },
    }),
  ]),
  ...Object.entries(BAD).flatMap(([title, uri]) => [
    ...refused('Client', {
      [`implicit: ${title}`]: [
        { grant_types: ['implicit'], auth: { implicit: { redirect_uri: uri } } },
        'auth.implicit.redirect_uri',
      ],
      [`authorization_code: ${title}`]: [
        { auth: { authorization_code: { redirect_uri: uri } } },
        'auth.authorization_code.redirect_uri',
      ],
      [`the list of implicit: ${title}`]: [
        { grant_types: ['implicit'], auth: { implicit: { redirect_uri: one, redirect_uris: [uri] } } },
        'auth.implicit.redirect_uris[0]',
      ],
      [`the list of authorization_code: ${title}`]: [
        {
          auth: {
            authorization_code: { redirect_uri: 'https://a.example/', redirect_uris: ['https://b.example/', uri] },
          },
        },
        'auth.authorization_code.redirect_uris[1]',
      ],
      [`after signing out: ${title}`]: [
        { post_logout_redirect_uris: ['https://app.example.com/', uri] },
        'post_logout_redirect_uris[1]',
      ],
    }),
  ]),
  ...accepted('Client', {
    'a redirect_uri that its list repeats': {
      auth: { implicit: { redirect_uri: 'https://a.example/', redirect_uris: ['https://a.example/'] } },
    },
    'as many redirect_uris as a client may have': {
      grant_types: ['implicit', 'authorization_code'],
      auth: {
        implicit: { redirect_uri: one, redirect_uris: addresses(32) },
        authorization_code: { redirect_uris: addresses(32) },
      },
    },
  }),
  ...(['implicit', 'authorization_code'] as const).flatMap((grant) =>
    refused('Client', {
      [`${grant}: redirect_uris without any`]: [
        { auth: { [grant]: { redirect_uri: 'https://a.example/', redirect_uris: [] } } },
        `auth.${grant}.redirect_uris`,
      ],
      [`${grant}: redirect_uris that are a string`]: [
        { auth: { [grant]: { redirect_uri: one, redirect_uris: 'https://a.example/' } } },
        `auth.${grant}.redirect_uris`,
      ],
      [`${grant}: one of redirect_uris twice`]: [
        { auth: { [grant]: { redirect_uri: one, redirect_uris: ['https://a.example/', 'https://a.example/'] } } },
        `auth.${grant}.redirect_uris[1]`,
      ],
      [`${grant}: too many redirect_uris`]: [
        { auth: { [grant]: { redirect_uri: one, redirect_uris: addresses(33) } } },
        `auth.${grant}.redirect_uris`,
      ],
      [`${grant}: one of redirect_uris that is a number`]: [
        { auth: { [grant]: { redirect_uri: one, redirect_uris: [443] } } },
        `auth.${grant}.redirect_uris[0]`,
      ],
    }),
  ),
  ...refused('Client', {
    'implicit: redirect_uris without a redirect_uri': [
      { grant_types: ['implicit'], auth: { implicit: { redirect_uris: [one] } } },
      'auth.implicit.redirect_uri',
    ],
    'a redirect_uri that is a list': [
      { auth: { implicit: { redirect_uri: ['https://app.example.com/'] } } },
      'auth.implicit.redirect_uri',
    ],
    'a redirect_uri that is a number': [
      { auth: { authorization_code: { redirect_uri: 443 } } },
      'auth.authorization_code.redirect_uri',
    ],
    'an address after signing out twice': [
      { post_logout_redirect_uris: ['https://a.example/', 'https://a.example/'] },
      'post_logout_redirect_uris[1]',
    ],
    'addresses after signing out as a string': [
      { post_logout_redirect_uris: 'https://a.example/' },
      'post_logout_redirect_uris',
    ],
    'too many addresses after signing out': [{ post_logout_redirect_uris: addresses(33) }, 'post_logout_redirect_uris'],
  }),
];

function addresses(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `https://a${i}.example/`);
}
