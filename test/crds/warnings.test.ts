import { expect } from 'chai';
import { isUnconditional } from '../../crds/warnings.ts';

const rows: readonly [rule: Parameters<typeof isUnconditional>[0], grants: boolean][] = [
  [{ engine: 'allow' }, true],
  [{ engine: 'matcho', matcho: {} }, true],
  [{ engine: 'matcho', matcho: { uri: '/x' } }, false],
  [{ engine: 'matcho', matcho: { $not: 'nil?' } }, false],
  [{ engine: 'json-schema', schema: {} }, true],
  [{ engine: 'json-schema', schema: { title: 'all', type: 'object', $defs: { a: { type: 'string' } } } }, true],
  [{ engine: 'json-schema', schema: { required: ['user'] } }, false],
  [{ engine: 'json-schema', schema: { type: 'string' } }, false],
  [{ engine: 'cel', expression: ' true ' }, true],
  [{ engine: 'cel', expression: 'true && uri == "/"' }, false],
  [
    {
      engine: 'complex',
      or: [
        { engine: 'matcho', matcho: { uri: '/x' } },
        { engine: 'matcho', matcho: {} },
      ],
    },
    true,
  ],
  [
    {
      engine: 'complex',
      and: [
        { engine: 'matcho', matcho: { uri: '/x' } },
        { engine: 'matcho', matcho: {} },
      ],
    },
    false,
  ],
  [{ engine: 'complex', and: [{ engine: 'allow' }, { engine: 'json-schema', schema: {} }] }, true],
  [{ engine: 'complex' }, false],
];

describe('isUnconditional', () => {
  for (const [rule, grants] of rows) {
    it(`R-49 ${JSON.stringify(rule)} ${grants ? 'has no condition' : 'has a condition'}`, () => {
      expect(isUnconditional(rule)).to.equal(grants);
    });
  }
});
