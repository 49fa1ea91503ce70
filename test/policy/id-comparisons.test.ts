import { expect } from 'chai';
import { compiled, sampleRequest } from './policies.ts';

/** A user's own request for their own record: the path has the ID as text, the user has it as a number. */
const request = sampleRequest({
  uri: '/users/7',
  resource: { resourceType: 'User', id: '7' },
  params: { user: '7', group: '4' },
  user: { resourceType: 'User', id: 7, groups: [{ id: 4, name: 'staff' }], 'group-ids': [4, 5] },
  session: { id: 'x', user: { resourceType: 'User', id: '7' } },
  token: { sub: '7', aud: ['https://boxgate.test'] },
  body: { id: 7, count: 5, 'group-ids': ['4', '5'], list: ['7'], map: { 7: false }, nulls: { 7: null } },
});

const matcho: readonly [pattern: object, fits: boolean][] = [
  [{ resource: { resourceType: 'User', id: '.user.id' } }, true],
  [{ user: { id: '.resource.id' } }, true],
  [{ token: { sub: '.user.id' } }, true],
  [{ user: { id: '.token.sub' } }, true],
  [{ params: { user: '.user.id' } }, true],
  [{ resource: '.session.user' }, true],
  [{ resource: { id: 7 } }, true],
  [{ user: { id: '7' } }, true],
  [{ user: { id: { $enum: ['6', '7'] } } }, true],
  [{ user: { id: { $not: '7' } } }, false],
  [{ user: { 'group-ids': { $contains: '.params.group' } } }, true],
  [{ user: { 'group-ids': { $contains: '4' } } }, true],
  [{ user: { groups: { $contains: { id: '.params.group' } } } }, true],
  [{ body: { 'group-ids': '.user.group-ids' } }, true],
  [{ resource: { id: 8 } }, false],
  [{ user: { id: '07' } }, false],
  [{ user: { id: ' 7' } }, false],
  [{ user: { id: '7.0' } }, false],
  [{ body: { count: '5' } }, false],
  [{ resource: { id: '.user.groups.0.id' } }, false],
];

const cel: readonly [expression: string, holds: boolean][] = [
  ['resource.id == user.id', true],
  ['user.id == resource.id', true],
  ['user["id"] == resource["id"]', true],
  ['resource.id != user.id', false],
  ['token.sub == user.id && session.user.id == user.id', true],
  ['params.user == user.id', true],
  ['string(user.id) == params.user', true],
  ['user.id == "7" && user.id == 7 && user.id == 7.0 && user.id == 7u', true],
  ['user.id + 1 == 8', true],
  ['params.group in user["group-ids"]', true],
  ['4 in user["group-ids"] && "5" in user["group-ids"]', true],
  ['user["group-ids"][0] == params.group', true],
  ['user.groups.exists(g, g.id == params.group)', true],
  ['user.id in body.list', true],
  ['resource.id in {7: true} && user.id in {"7": true}', true],
  ['resource.id in {7: null} || user.id in {"7": null}', false],
  ['user.id in body.map', true],
  ['resource.id in body.nulls', false],
  ['body["group-ids"] == user["group-ids"]', true],
  ['resource.id == "07"', false],
  ['user.id in ["6"]', false],
  ['body.count == "5"', false],
  ['user.data.nobody.id == "7" || user.id == "7"', true],
  ['user.data.nobody.id != "7"', false],
];

describe('IDs in policies', () => {
  for (const [pattern, fits] of matcho) {
    it(`R-40 the pattern ${JSON.stringify(pattern)} ${fits ? 'fits' : 'does not fit'}`, () => {
      const policy = compiled({ engine: 'matcho', matcho: pattern });
      expect(policy.fault).to.equal(undefined);
      expect(policy.allows(request)).to.equal(fits);
    });
  }

  for (const [expression, holds] of cel) {
    it(`R-40 ${expression} is ${String(holds)}`, () => {
      const policy = compiled({ engine: 'cel', expression });
      expect(policy.fault).to.equal(undefined);
      expect(policy.evaluate(request).granted).to.equal(holds);
    });
  }

  it('R-40 counts the steps of a comparison of long lists of IDs', () => {
    const ids = Array.from({ length: 150_000 }, (_, at) => at);
    const policy = compiled({ engine: 'cel', expression: 'user["group-ids"] == user["group-ids"]' });
    const { granted, gaveUp } = policy.evaluate(sampleRequest({ user: { id: 1, 'group-ids': ids } }));
    expect({ granted, gaveUp }).to.deep.equal({ granted: false, gaveUp: true });
  });
});
