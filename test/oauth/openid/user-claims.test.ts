import { expect } from 'chai';
import { userClaims } from '../../../api/oauth/openid/user-claims.ts';

describe('preferred_username', () => {
  const email = 'ann@shop.example';
  const cases: readonly (readonly [what: string, data: string | null, scope: string, expected: unknown])[] = [
    ['is that of the data', '{"preferred_username":"ann"}', 'openid profile', 'ann'],
    ['is the email without data', null, 'openid profile', email],
    ['is the email if the data has none', '{"name":"Ann"}', 'openid profile', email],
    ['is the email if the data has one of another type', '{"preferred_username":7}', 'openid profile', email],
    ['is not told without the scope profile', '{"preferred_username":"ann"}', 'openid email', undefined],
  ];
  for (const [what, data, scope, expected] of cases) {
    it(what, () => {
      expect(userClaims({ email, data }, scope)['preferred_username']).to.equal(expected);
    });
  }
});
