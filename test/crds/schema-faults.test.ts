import { expect } from 'chai';
import { faultSentence } from '../../crds/fault.ts';
import { checkManifest } from '../../crds/manifest.ts';
import { manifest, type Spec } from './objects/row.ts';

/** Messages about one wrong field: which field, what is wrong, what to do. */
const sentences: [spec: Spec, sentence: string][] = [
  [{ grant_types: null }, 'spec.grant_types must be given'],
  [{ grant_types: 'implicit' }, 'spec.grant_types must be a list, not "implicit"'],
  [{ id: '' }, 'spec.id must begin with a letter or digit and have only letters, digits and ._~-'],
  [{ id: 'a'.repeat(129) }, 'spec.id must have at most 128 characters'],
  [{ name: '' }, 'spec.name must not be empty'],
  [{ name: 'a\nb' }, 'spec.name must be one line of text without control characters'],
  [{ description: '\u0007' }, 'spec.description must be text without control characters'],
  [{ active: 'yes' }, 'spec.active must be true or false: write true, not "yes"'],
  [{ secret: 42 }, 'spec.secret must be a string, not a number: quote it in YAML'],
  [{ secret: 'a\n' }, 'spec.secret must be visible ASCII and blanks (RFC 6749 appendix A.2), without a line end'],
  [{ details: [] }, 'spec.details must be an object, not a list'],
  [{ adoption: 'Always' }, 'spec.adoption must be one of Never, IfUnowned, Force, not "Always"'],
  [
    { rotation: { every: '3d' } },
    'spec.rotation.every must be a duration such as 720h or 1h30m, in hours, minutes and seconds',
  ],
  [{ scope: ['a', 'b', 'a'] }, 'spec.scope[2] must not be given twice'],
  [
    { scope: ['a b'] },
    'spec.scope[0] must be a scope: visible ASCII without blank, quote and backslash (RFC 6749 section 3.3)',
  ],
  [{ scope: Array.from({ length: 200 }, (_, i) => `s${i}`) }, 'spec.scope must have at most 128 entries'],
  [
    { jwks_uri: 'https://example.com/ö' },
    'spec.jwks_uri must be a URI: visible ASCII, percent-encoded where RFC 3986 demands it',
  ],
  [
    { allowed_origins: ['*'] },
    'spec.allowed_origins[0] must be an origin such as https://app.example.com, without a path',
  ],
  [
    { revoke_sessions_before: 'now' },
    'spec.revoke_sessions_before must be a time with its offset, such as 2026-01-31T12:00:00Z (RFC 3339)',
  ],
  [
    { revoke_sessions_before: '2026-02-30T00:00:00Z' },
    'spec.revoke_sessions_before must be a time with its offset, such as 2026-01-31T12:00:00Z (RFC 3339)',
  ],
  [
    { secretRef: { name: 'A', key: 'k' } },
    'spec.secretRef.name must be the name of an object: lower-case letters, digits, - and .',
  ],
  [{ secretRef: { name: 'a', key: '/' } }, 'spec.secretRef.key must be a key of a Secret: letters, digits and -._'],
  [{ 'a b': 1 }, 'spec["a b"] is not a known field'],
  [{ ['x'.repeat(100)]: 1 }, `spec.${'x'.repeat(100)} is not a known field`],
  [{ ['x '.repeat(100)]: 1 }, `spec["${'x '.repeat(32).slice(0, 63)}…"] is not a known field`],
];

/** A lifetime that is not one, and what its message says about the value, the expected one and the unit. */
const lifetimes: readonly [value: unknown, sentence: string][] = [
  ['15m', 'must be a whole number of seconds: write 900, not "15m"'],
  ['2h', 'must be a whole number of seconds: write 7200, not "2h"'],
  ['900', 'must be a whole number of seconds: write 900 without quotes, not "900"'],
  ['soon', 'must be a whole number of seconds, not "soon"'],
  [1.5, 'must be a whole number of seconds, not 1.5'],
  [true, 'must be a whole number of seconds, not true'],
  [{}, 'must be a whole number of seconds, not an object'],
  [0, 'must be at least 1 (seconds), not 0'],
  [315_360_001, 'must be at most 315360000 (seconds), not 315360001'],
];

const flags: readonly [value: unknown, sentence: string][] = [
  ['no', 'must be true or false: write false, not "no"'],
  ['On', 'must be true or false: write true, not "On"'],
  ['false', 'must be true or false: write false without quotes, not "false"'],
  ['maybe', 'must be true or false, not "maybe"'],
  [0, 'must be true or false, not 0'],
  [[], 'must be true or false, not a list'],
  ['x'.repeat(100), 'must be true or false, not a string'],
];

describe('schemaFaults', () => {
  for (const [spec, sentence] of sentences) {
    it(sentence.slice(0, 120), () => {
      const checked = checkManifest(manifest('Client', spec));
      expect(checked.ok ? [] : checked.faults.map(faultSentence)).to.deep.equal([sentence]);
    });
  }

  it('says of a link, an app and an email what they must be', () => {
    const policy = checkManifest(manifest('AccessPolicy', { link: [{ reference: 'Session/1' }] }));
    expect(policy.ok ? [] : policy.faults.map(faultSentence)).to.deep.equal([
      'spec.link[0].reference must be Client/<id>, User/<number>, or Group/<id or name>',
    ]);
    const gated = checkManifest(manifest('AccessPolicy', { apps: ['https://orders.example'] }));
    expect(gated.ok ? [] : gated.faults.map(faultSentence)).to.deep.equal([
      'spec.apps[0] must be * or the name of an app, such as its host orders.example: no scheme, port or capitals',
    ]);
    const passwordSecretRef = { name: 'a', key: 'b' };
    const box = checkManifest(manifest('Box', { hosts: ['A'], bootstrap_admin: { email: 'a', passwordSecretRef } }));
    expect(box.ok ? [] : box.faults.map(faultSentence)).to.deep.equal([
      'spec.hosts[0] must be a host name: lower-case letters, digits, - and .',
      'spec.bootstrap_admin.email must be an email address',
    ]);
  });

  for (const [value, sentence] of lifetimes) {
    it(`R-38 a lifetime ${JSON.stringify(value)}: ${sentence}`, () => {
      const spec = { auth: { client_credentials: { access_token_expiration: value } } };
      const checked = checkManifest(manifest('Client', spec));
      const path = 'spec.auth.client_credentials.access_token_expiration';
      expect(checked.ok ? [] : checked.faults.map(faultSentence)).to.deep.equal([`${path} ${sentence}`]);
    });
  }

  for (const [value, sentence] of flags) {
    it(`R-38 a flag ${JSON.stringify(value).slice(0, 20)}: ${sentence}`, () => {
      const checked = checkManifest(manifest('Client', { active: value }));
      expect(checked.ok ? [] : checked.faults.map(faultSentence)).to.deep.equal([`spec.active ${sentence}`]);
    });
  }

  it('R-38 never repeats a value that may be a secret', () => {
    const canary = 4_242_424_242;
    const values = [
      { secret: canary },
      { jwks: canary },
      { jwks: { keys: [{ kty: canary }] } },
      { generateSecret: { template: { a: canary } } },
    ];
    for (const spec of values) {
      const checked = checkManifest(manifest('Client', spec));
      expect(checked.ok, JSON.stringify(spec)).to.equal(false);
      expect(JSON.stringify(checked)).not.to.contain(String(canary));
    }
  });
});
