import { expect } from 'chai';
import { appSubject } from '../../../api/http/access/session-parts.ts';
import type { Person } from '../../../api/db/user.ts';

const user: Person = { id: 7, email: 'ann@shop.example', email_verified: true, data: null, groups: [] };

describe('the subject of a token at an app', () => {
  const cases: readonly (readonly [
    string,
    app: string,
    audience: readonly string[],
    scope: string,
    rights: unknown,
  ])[] = [
    ['for the app by its name', 'shop.example', ['shop.example'], 'openid', true],
    ['for the app by its address', 'shop.example', ['https://shop.example'], 'openid', true],
    ['for the box', 'shop.example', ['https://id.example'], 'openid', false],
    ['for the box, with the scope boxgate', 'shop.example', ['https://id.example'], 'boxgate', true],
    ['for the box, at an app on the host of its issuer', 'id.example', ['https://id.example'], 'openid', false],
    ['for the app by its name, on the host of the issuer', 'id.example', ['id.example'], 'openid', true],
    ['for another app', 'shop.example', ['https://other.example'], 'boxgate', undefined],
  ];
  for (const [what, app, audience, scope, hasRights] of cases) {
    it(`has the rights of the user if the token is ${what}: ${String(hasRights)}`, () => {
      const subject = appSubject({ client: 'web', user, audience, scope }, app, 'https://id.example');
      expect(subject && !subject.withoutUserRights).to.equal(hasRights);
    });
  }
});
