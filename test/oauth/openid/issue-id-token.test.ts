import { expect } from 'chai';
import { idTokenClaims } from '../../../api/oauth/openid/id-token.ts';

const person = {
  id: 1,
  email: 'ann@shop.example',
  email_verified: true,
  data: '{"name":"Ann","phone_number":"+31 20 123 4567"}',
  groups: [{ id: 2, name: 'shop' }],
};
const email = { email: person.email, email_verified: true };
const profile = { name: 'Ann', preferred_username: person.email };
const groups = { groups: ['shop'] };

type Listed = readonly ('email' | 'profile' | 'groups')[];

describe('the claims about a user in an id_token beside an access token', () => {
  const all: Listed = ['email', 'profile', 'groups'];
  const cases: readonly (readonly [scope: string, listed: Listed | undefined, expected: object])[] = [
    ['openid email profile phone', undefined, {}],
    ['openid email profile phone', [], {}],
    ['openid email profile phone', ['email'], email],
    ['openid email profile phone', ['profile'], profile],
    ['openid email profile phone groups', all, { ...email, ...profile, ...groups }],
    ['openid groups email', undefined, groups],
    ['openid groups email', ['email'], { ...email, ...groups }],
    ['openid', all, {}],
    ['openid profile', ['email', 'groups'], {}],
  ];
  for (const [scope, listed, expected] of cases) {
    it(`are ${JSON.stringify(Object.keys(expected))} for ${scope} and id_token_claims ${JSON.stringify(listed)}`, () => {
      const client = listed === undefined ? {} : { id_token_claims: [...listed] };
      expect(idTokenClaims(person, scope, client)).to.deep.equal(expected);
    });
  }
});
