import { expect } from 'chai';
import { PRESENT, withoutCredentials } from '../../api/policy/request-object.ts';
import { compiled, sampleRequest } from './policies.ts';

const canary = 'canary-42';

const rows: readonly [what: string, body: unknown, seen: unknown][] = [
  ['the password of a user', { email: 'a@b.example', password: canary }, { email: 'a@b.example', password: PRESENT }],
  ['the old password of a user', { old_password: canary }, { old_password: PRESENT }],
  ['the secret of a client', { id: 'x', secret: canary }, { id: 'x', secret: PRESENT }],
  ['a secret that is no text', { secret: { a: canary } }, { secret: PRESENT }],
  ['an empty secret', { secret: '' }, { secret: PRESENT }],
  ['a secret that is removed', { secret: null }, { secret: null }],
  [
    'a secret in a JSON patch',
    [
      { op: 'replace', path: '/secret', value: canary },
      { op: 'remove', path: '/name' },
    ],
    [
      { op: 'replace', path: '/secret', value: PRESENT },
      { op: 'remove', path: '/name' },
    ],
  ],
  [
    'a whole record in a JSON patch',
    [{ op: 'replace', path: '', value: { id: 'x', secret: canary } }],
    [{ op: 'replace', path: '', value: { id: 'x', secret: PRESENT } }],
  ],
  [
    'a secret below a JSON pointer',
    [{ op: 'add', path: '/secret/a', value: canary }],
    [{ op: 'add', path: '/secret/a', value: PRESENT }],
  ],
  [
    'a question to $explain',
    { request: { uri: '/users', body: { password: canary } } },
    { request: { uri: '/users', body: { password: PRESENT } } },
  ],
];

describe('credentials in the body that policies see', () => {
  for (const [what, body, seen] of rows) {
    it(`R-44 replaces ${what} by a marker`, () => {
      const before = JSON.stringify(body);
      expect(sampleRequest({ body }).body).to.deep.equal(seen);
      expect(JSON.stringify(body), 'the body itself').to.equal(before);
    });
  }

  it('R-44 returns a body without credentials as it is', () => {
    for (const body of [{ name: 'x', details: { secret: 1 } }, [1, { path: '/name', value: 'x' }], 'secret', null]) {
      expect(withoutCredentials(body)).to.equal(body);
    }
  });

  it('R-44 lets a policy ask whether a value is present', () => {
    const present = compiled({ engine: 'matcho', matcho: { body: { secret: 'present?' } } });
    const guess = compiled({ engine: 'cel', expression: `body.secret.startsWith("c")` });
    const request = sampleRequest({ body: { secret: canary } });
    expect([present.allows(request), guess.allows(request)]).to.deep.equal([true, false]);
    expect(present.allows(sampleRequest({ body: { secret: null } }))).to.equal(false);
  });
});
