import { expect } from 'chai';
import { CompileCost } from '../../api/policy/engines/engine.ts';
import { lackOf, withReasons } from '../../api/policy/explain-denial.ts';
import { Steps } from '../../api/policy/steps.ts';
import { sampleRequest, storedPolicy } from './policies.ts';

const request = sampleRequest({ headers: { 'x-key': 'hidden' } });

describe('what a request lacks', () => {
  const rows: [what: string, rule: Readonly<Record<string, unknown>>, lack: object | undefined][] = [
    [
      'a method',
      { matcho: { uri: '/Client/reports', 'request-method': 'delete' } },
      { path: 'request-method', wants: 'delete' },
    ],
    [
      'a member of a missing part',
      { matcho: { user: { data: { team: 'a' } } } },
      { path: 'user.data.team', wants: 'a' },
    ],
    [
      'a header, whose value is not shown',
      { matcho: { headers: { 'x-key': 'other' } } },
      { path: 'headers.x-key', wants: 'other' },
    ],
    ['a word', { matcho: { uri: { $enum: ['/a', '/b'] } } }, { path: 'uri', wants: { $enum: ['/a', '/b'] } }],
    ['a path', { matcho: { uri: '.session.id' } }, { path: 'uri', wants: '.session.id' }],
    ['nothing', { matcho: { uri: '/Client/reports' } }, undefined],
    ['a constant', { schema: { properties: { uri: { const: '/x' } } } }, { path: 'uri', wants: { const: '/x' } }],
    ['a part', { schema: { required: ['uri', 'user'] } }, { path: '', wants: { required: 'user' } }],
    [
      'one of several',
      { schema: { anyOf: [{ properties: { uri: { const: '/x' } } }, { required: ['user'] }] } },
      { path: '', wants: { anyOf: [{ properties: { uri: { const: '/x' } } }, { required: ['user'] }] } },
    ],
    [
      'what a definition says',
      { schema: { $defs: { 'a/b': { const: '/x' } }, properties: { uri: { $ref: '#/$defs/a~1b' } } } },
      { path: 'uri', wants: { const: '/x' } },
    ],
    [
      'only a place behind a reference',
      { schema: { $defs: { a: { not: { const: '/Client/reports' } } }, properties: { uri: { $ref: '#/$defs/a' } } } },
      { path: 'uri' },
    ],
    ['what CEL says', { expression: 'uri == "/x"' }, undefined],
    ['a rule that does not compile', { matcho: { user: { $foo: 1 } } }, undefined],
    [
      'the first of all',
      { and: [{ engine: 'allow' }, { engine: 'matcho', matcho: { uri: '/x' } }] },
      { path: 'uri', wants: '/x' },
    ],
    [
      'one of some',
      {
        or: [
          { engine: 'matcho', matcho: { uri: '/x' } },
          { engine: 'matcho', matcho: { uri: '/y' } },
        ],
      },
      { path: 'uri', wants: '/x' },
    ],
  ];
  for (const [what, rule, lack] of rows) {
    it(`is ${what}: ${JSON.stringify(lack)}`, () => {
      const engine =
        'matcho' in rule ? 'matcho' : 'schema' in rule ? 'json-schema' : 'expression' in rule ? 'cel' : 'complex';
      expect(lackOf({ engine, ...rule }, request, { steps: new Steps(), cost: new CompileCost() })).to.deep.equal(lack);
    });
  }

  it('is also a link: up to three policies that would grant it, those of groups first for a user', async () => {
    const user = { resourceType: 'User', id: '7' };
    const group = { resourceType: 'Group', id: 'admins' };
    const policies = [
      storedPolicy({ id: 'a', engine: 'allow', link: [user] }),
      storedPolicy({ id: 'b', engine: 'matcho', matcho: { uri: '/x' }, link: [group] }),
      storedPolicy({ id: 'c', engine: 'allow', link: [group] }),
      storedPolicy({ id: 'd', engine: 'allow', link: [] }),
      storedPolicy({ id: 'e', engine: 'allow', link: [group], apps: ['shop'] }),
      storedPolicy({ id: 'f', engine: 'allow', link: [user] }),
      storedPolicy({ id: 'g', engine: 'allow', link: [user] }),
    ];
    const nothing = { granted: false, candidates: [] };
    const eve = { user: { id: 1, groupIds: [], groupNames: [] } };
    const asked = { policies, app: undefined, subject: eve, request };
    const named = async (different: object): Promise<unknown> =>
      (await withReasons(nothing, { ...asked, ...different })).would_grant?.map(({ policy }) => policy);
    expect(await named({})).to.deep.equal(['c', 'a', 'f']);
    expect(await named({ app: 'shop' })).to.deep.equal(['e']);
    expect(await named({ subject: { client: 'x' } })).to.deep.equal(['a', 'c', 'f']);
    expect(await named({ subject: {} })).to.equal(undefined);
    expect(await named({ subject: { ...eve, withoutUserRights: true } })).to.equal(undefined);
  });
});
