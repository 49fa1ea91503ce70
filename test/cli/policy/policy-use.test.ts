import { expect } from 'chai';
import { useOf } from '../../../api/cli/policy.ts';

const day = 86_400_000;
const now = Date.parse('2026-06-01T00:00:00Z');
const ago = (days: number): string => new Date(now - days * day).toISOString();

interface Row {
  readonly recorded: number;
  readonly created: number;
  readonly used?: number;
  readonly shows: readonly [lastUsed: string, unused: string];
}

const rows: Readonly<Record<string, Row>> = {
  'a use of 89 days ago': { recorded: 200, created: 200, used: 89, shows: [ago(89).replace(':00.000Z', 'Z'), 'no'] },
  'a use of 90 days ago': { recorded: 200, created: 200, used: 90, shows: [ago(90).replace(':00.000Z', 'Z'), 'yes'] },
  'no use of an old policy': { recorded: 90, created: 200, shows: ['never', 'yes'] },
  'no use of a policy of 89 days': { recorded: 200, created: 89, shows: ['never', 'no'] },
  'no use since the record began 89 days ago': { recorded: 89, created: 200, shows: ['never', 'no'] },
};

describe('the use of policies', () => {
  for (const [name, { recorded, created, used, shows }] of Object.entries(rows)) {
    it(`${name} is shown as ${shows.join(', ')}`, () => {
      const last_used_at = used === undefined ? null : ago(used);
      const policies = [{ id: 'orders', created_at: ago(created), last_used_at }];
      const use = useOf({ recorded_since: ago(recorded), policies }, now);
      expect(Object.values(use('orders'))).to.deep.equal(shows);
    });
  }

  it('a policy that was created after the usage was read, and every policy without a right, has ?', () => {
    const use = useOf({ recorded_since: ago(100), policies: [] }, now);
    for (const one of [use, useOf(undefined, now)]) expect(Object.values(one('new'))).to.deep.equal(['?', '?']);
  });
});
