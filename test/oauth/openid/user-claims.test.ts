import { expect } from 'chai';
import { groupsClaim, userClaims } from '../../../api/oauth/openid/user-claims.ts';

const ann = { id: 1, email: 'ann@shop.example', email_verified: null, data: null, groups: null };
const group = (id: number, name: string) => ({ id, name });

describe('preferred_username, and name in the same way', () => {
  const { email } = ann;
  const cases: readonly (readonly [what: string, data: string | null, scope: string, expected: unknown])[] = [
    ['is that of the data', '{"preferred_username":"ann"}', 'openid profile', 'ann'],
    ['is the email without data', null, 'openid profile', email],
    ['is the email if the data has none', '{"name":"Ann"}', 'openid profile', email],
    ['is the email if the data has one of another type', '{"preferred_username":7}', 'openid profile', email],
    ['is not told without the scope profile', '{"preferred_username":"ann"}', 'openid email', undefined],
  ];
  for (const [what, data, scope, expected] of cases) {
    it(what, () => {
      const named = data?.replace(/preferred_username|name/, (name) => (name === 'name' ? 'nickname' : 'name')) ?? null;
      expect(userClaims({ ...ann, data }, scope)['preferred_username']).to.equal(expected);
      expect(userClaims({ ...ann, data: named }, scope)['name']).to.equal(expected);
    });
  }
});

describe('the claim groups', () => {
  const groups = [group(2, 'shop'), group(10, 'Küche, Bad')];
  const cases: readonly (readonly [what: string, scope: string | null, expected: object])[] = [
    ['has the names in the order of the ids', 'openid groups', { groups: ['shop', 'Küche, Bad'] }],
    ['is there without openid', 'groups', { groups: ['shop', 'Küche, Bad'] }],
    ['is not told without the scope', 'openid profile email mygroups groups:read', {}],
    ['is not told without any scope', null, {}],
  ];
  for (const [what, scope, expected] of cases) {
    it(what, () => {
      expect(groupsClaim({ groups }, scope)).to.deep.equal(expected);
    });
  }

  it('is empty for a user without groups, and absent without a user', () => {
    expect(groupsClaim(ann, 'groups')).to.deep.equal({ groups: [] });
    expect(groupsClaim(null, 'groups')).to.deep.equal({});
  });
});

describe('the claim email_verified', () => {
  const verified = (email_verified: boolean | null, scope: string): unknown =>
    userClaims({ ...ann, email_verified }, scope)['email_verified'];

  it('is what is stored, and absent if nothing is', () => {
    expect([true, false, null].map((one) => verified(one, 'openid email'))).to.deep.equal([true, false, undefined]);
  });

  it('is not told without the scope email', () => {
    expect(verified(true, 'openid profile groups')).to.equal(undefined);
  });
});
