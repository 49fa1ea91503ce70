import { accepted, letters, manifest, refused, type Row, type Spec } from './row.ts';

const matcho = { uri: '#^/orders' };
const schema = { type: 'object', required: ['uri'], properties: { uri: { const: '/orders' } } };

/** Engines, their rules, links and subjects. */
export const accessPolicyRows: readonly Row[] = [
  ...accepted('AccessPolicy', {
    'allow without links, which grants nobody': {},
    'allow with an empty list of links': { link: [] },
    'allow for a client': { link: [{ resourceType: 'Client', id: 'app' }] },
    'links of every type and both forms': {
      link: [
        { resourceType: 'Client', id: '42answers' },
        { resourceType: 'User', id: '17' },
        { resourceType: 'Group', id: '4' },
        { resourceType: 'Group', id: 'Küche & Bad' },
        { reference: 'Client/app' },
        { reference: 'User/17' },
        { reference: 'Group/4' },
        { reference: 'Group/Küche & Bad' },
      ],
    },
    'the same link twice': { link: [{ reference: 'Client/app' }, { resourceType: 'Client', id: 'app' }] },
    'the most links': { link: Array.from({ length: 500 }, (_, i) => ({ resourceType: 'Client', id: `c${i}` })) },
    'allow for everybody': { subjects: 'anyone' },
    'allow for all that are authenticated': { subjects: 'authenticated' },
    'allow at apps': { apps: ['orders', 'shop.example', '*'] },
    'allow at an app of the longest name': { apps: [letters(253)] },
    'allow at the most apps': { apps: Array.from({ length: 100 }, (_, i) => `app-${i}`) },
    'allow for linked ones, said aloud': { subjects: 'linked', link: [{ reference: 'Client/app' }] },
    'json-schema': { engine: 'json-schema', schema },
    'json-schema of draft-07': {
      engine: 'json-schema',
      schema: { $schema: 'http://json-schema.org/draft-07/schema#', ...schema },
    },
    'json-schema with a default of null': { engine: 'json-schema', schema: { ...schema, default: null } },
    matcho: {
      engine: 'matcho',
      matcho: { ...matcho, client: { id: '.token.client_id' }, user: null, params: { x: ['present?'] } },
    },
    cel: { engine: 'cel', expression: 'uri.startsWith("/orders") &&\n\tclient.id == "app"' },
    'complex: all': {
      engine: 'complex',
      and: [
        { engine: 'matcho', matcho },
        { engine: 'cel', expression: 'true' },
        { engine: 'json-schema', schema },
        { engine: 'allow' },
      ],
    },
    'complex: one of': { engine: 'complex', or: [{ engine: 'matcho', matcho }] },
    'an id of its own': { id: 'Orders.read_1' },
    'an id of digits': { id: '42' },
    'a description': { description: 'Who may read\norders' },
    'kept when deleted': { deletionPolicy: 'Retain', adoption: 'IfUnowned', suspend: true },
    'null for a rule of another engine': { engine: 'allow', schema: null, matcho: null, and: null },
  }),
  ...refused('AccessPolicy', {
    'R-48 a time of creation, which is shown over REST only': [
      { created_at: '2026-01-31T12:00:00.000Z' },
      'created_at',
    ],
    'no engine': [{ engine: null }, 'engine'],
    'an engine nobody knows': [{ engine: 'deny' }, 'engine'],
    ALLOW: [{ engine: 'ALLOW' }, 'engine'],
    'allow with a blank': [{ engine: 'allow ' }, 'engine'],
    'an engine that is a list': [{ engine: ['allow'] }, 'engine'],
    sql: [{ engine: 'sql', sql: 'select true' }, 'engine', 'sql'],
    ...engines(),
    ...nested('and'),
    ...nested('or'),
    'complex with both lists': [{ engine: 'complex', and: [{ engine: 'allow' }], or: [{ engine: 'allow' }] }, 'and'],
    'complex without a list': [{ engine: 'complex' }, 'and'],
    'links as an object': [{ link: { resourceType: 'Client', id: 'app' } }, 'link'],
    'a link as a string': [{ link: ['Client/app'] }, 'link[0]'],
    'an empty link': [{ link: [{}] }, 'link[0]'],
    'a link without type': [{ link: [{ id: 'app' }] }, 'link[0]'],
    'a link without id': [{ link: [{ reference: 'Client/app' }, { resourceType: 'Client' }] }, 'link[1]'],
    'a link in both forms': [{ link: [{ resourceType: 'Client', id: 'app', reference: 'Client/app' }] }, 'link[0]'],
    'a reference with an id': [{ link: [{ id: 'app', reference: 'Client/app' }] }, 'link[0]'],
    'a link with a namespace': [
      { link: [{ resourceType: 'Client', id: 'app', namespace: 'other' }] },
      'link[0].namespace',
    ],
    'a link with an id that is a number': [{ link: [{ resourceType: 'User', id: 17 }] }, 'link[0].id'],
    'a link with a reference that is a number': [{ link: [{ reference: 17 }] }, 'link[0].reference'],
    'a link to a policy': [{ link: [{ resourceType: 'AccessPolicy', id: 'a' }] }, 'link[0].resourceType'],
    'a link to a session': [{ link: [{ resourceType: 'Session', id: 'a' }] }, 'link[0].resourceType'],
    'a link to a type that is a number': [{ link: [{ resourceType: 1, id: 'a' }] }, 'link[0].resourceType'],
    'a link to a type in small letters': [{ link: [{ resourceType: 'client', id: 'a' }] }, 'link[0].resourceType'],
    ...[
      'other/app',
      '../app',
      'https://example.com',
      'a:b',
      '42',
      'größe',
      'a b',
      'a\u0000b'.replace('\u0000', '\u0001'),
    ]
      .map((id): Record<string, readonly [Spec, string]> => ({
        [`a link to a client called ${JSON.stringify(id)}`]: [
          { link: [{ resourceType: 'Client', id }] },
          id.includes('\u0001') ? 'link[0].id' : 'link[0]',
        ],
        [`a reference to a client called ${JSON.stringify(id)}`]: [
          { link: [{ reference: `Client/${id}` }] },
          'link[0].reference',
        ],
      }))
      .reduce((all, some) => ({ ...all, ...some })),
    ...['someone', '0', '-1', '1.5', '01', '1234567890123456']
      .map((id): Record<string, readonly [Spec, string]> => ({
        [`a link to a user called ${id}`]: [{ link: [{ resourceType: 'User', id }] }, 'link[0]'],
        [`a reference to a user called ${id}`]: [{ link: [{ reference: `User/${id}` }] }, 'link[0].reference'],
      }))
      .reduce((all, some) => ({ ...all, ...some })),
    'a link to nothing': [{ link: [{ resourceType: 'Group', id: '' }] }, 'link[0].id'],
    'a link to a group of two lines': [{ link: [{ resourceType: 'Group', id: 'a\nb' }] }, 'link[0].id'],
    'a link to a long group': [{ link: [{ resourceType: 'Group', id: letters(129) }] }, 'link[0].id'],
    'a reference to a long group': [{ link: [{ reference: `Group/${letters(129)}` }] }, 'link[0].reference'],
    'a reference to a long client': [{ link: [{ reference: `Client/${letters(129)}` }] }, 'link[0].reference'],
    'a reference to nothing': [{ link: [{ reference: 'Client/' }] }, 'link[0].reference'],
    'a reference to a type': [{ link: [{ reference: 'Client' }] }, 'link[0].reference'],
    'an empty reference': [{ link: [{ reference: '' }] }, 'link[0].reference'],
    'a reference to another type': [{ link: [{ reference: 'Session/1' }] }, 'link[0].reference'],
    'a reference with a slash in front': [{ link: [{ reference: '/Client/app' }] }, 'link[0].reference'],
    'a reference that is an address': [
      { link: [{ reference: 'https://example.com/Client/app' }] },
      'link[0].reference',
    ],
    'too many links': [
      { link: Array.from({ length: 501 }, (_, i) => ({ resourceType: 'Client', id: `c${i}` })) },
      'link',
    ],
    'no app': [{ apps: [] }, 'apps'],
    'an app that is no text': [{ apps: [1] }, 'apps[0]'],
    'an app that is no list': [{ apps: 'orders' }, 'apps'],
    'an app in capitals': [{ apps: ['Orders'] }, 'apps[0]'],
    'an app with a port': [{ apps: ['shop.example:443'] }, 'apps[0]'],
    'an app below a domain': [{ apps: ['*.shop.example'] }, 'apps[0]'],
    'an app of too long a name': [{ apps: [letters(254)] }, 'apps[0]'],
    'too many apps': [{ apps: Array.from({ length: 101 }, (_, i) => `app-${i}`) }, 'apps'],
    'subjects nobody knows': [{ subjects: 'everyone' }, 'subjects'],
    'subjects as a list': [{ subjects: ['anyone'] }, 'subjects'],
    'a description with an escape': [{ description: 'a\u001b[31m' }, 'description'],
    'a description that is too long': [{ description: letters(4097) }, 'description'],
    'a description that is a list': [{ description: [] }, 'description'],
    'an expression of another engine beside a misspelt field': [
      { expression: 'true', mathco: {} },
      'mathco',
      'expression',
    ],
    'a rule that is long': [{ engine: 'cel', expression: letters(8193) }, 'expression'],
    'a rule of nothing': [{ engine: 'cel', expression: '' }, 'expression'],
    'a rule with a bell': [{ engine: 'cel', expression: 'true\u0007' }, 'expression'],
    'a rule that is true': [{ engine: 'cel', expression: true }, 'expression'],
    'a schema that is true': [{ engine: 'json-schema', schema: true }, 'schema'],
    'a schema that is text': [{ engine: 'json-schema', schema: '{}' }, 'schema'],
    'a schema of many members': [{ engine: 'json-schema', schema: many() }, 'schema'],
    'a pattern that is a list': [{ engine: 'matcho', matcho: [] }, 'matcho'],
    'a pattern of many members': [{ engine: 'matcho', matcho: many() }, 'matcho'],
    'an id with a slash': [{ id: 'a/b' }, 'id'],
    'an id of nothing': [{ id: '' }, 'id'],
    'an id that is a number': [{ id: 1 }, 'id'],
    'an id that is too long': [{ id: letters(129) }, 'id'],
    'a deletion policy nobody knows': [{ deletionPolicy: 'Keep' }, 'deletionPolicy'],
    'a deletion policy that is a number': [{ deletionPolicy: 1 }, 'deletionPolicy'],
    'an adoption nobody knows': [{ adoption: 'force' }, 'adoption'],
    'an adoption that is a number': [{ adoption: 1 }, 'adoption'],
    'suspend as a number': [{ suspend: 0 }, 'suspend'],
    'a secret of a policy': [{ secretRef: { name: 'a', key: 'b' } }, 'secretRef'],
  }),
  {
    title: 'an id that changes',
    kind: 'AccessPolicy',
    object: manifest('AccessPolicy', { id: 'b' }),
    old: manifest('AccessPolicy', { id: 'a' }),
    verdict: 'refused',
    paths: ['spec.id'],
  },
  {
    title: 'an engine that changes',
    kind: 'AccessPolicy',
    object: manifest('AccessPolicy', { engine: 'cel', expression: 'true' }),
    old: manifest('AccessPolicy', {}),
    verdict: 'accepted',
    paths: [],
  },
  {
    title: 'a name that is too long for an id',
    kind: 'AccessPolicy',
    object: manifest('AccessPolicy', {}, `${letters(60)}.${letters(60)}.${letters(60)}`),
    verdict: 'refused',
    paths: ['metadata.name'],
  },
];

/** Each engine without its rule, and with the rule of each other one. */
function engines(): Record<string, readonly [Spec, ...string[]]> {
  const rules = { 'json-schema': { schema }, matcho: { matcho }, cel: { expression: 'true' } };
  const fields = { 'json-schema': 'schema', matcho: 'matcho', cel: 'expression' };
  const found: Record<string, readonly [Spec, ...string[]]> = {};
  for (const engine of ['json-schema', 'matcho', 'cel'] as const) {
    found[`${engine} without rule`] = [{ engine }, fields[engine]];
    found[`allow with the rule of ${engine}`] = [{ engine: 'allow', ...rules[engine] }, fields[engine]];
    found[`${engine} with a list of rules`] = [{ engine, ...rules[engine], and: [{ engine: 'allow' }] }, 'and'];
    found[`complex with the rule of ${engine}`] = [
      { engine: 'complex', or: [{ engine: 'allow' }], ...rules[engine] },
      fields[engine],
    ];
    for (const other of ['json-schema', 'matcho', 'cel'] as const) {
      if (other === engine) continue;
      found[`${engine} with the rule of ${other}`] = [{ engine, ...rules[other] }, fields[engine], fields[other]];
      found[`${engine} with the rule of ${other} too`] = [{ engine, ...rules[engine], ...rules[other] }, fields[other]];
    }
  }
  found['allow with a list of rules'] = [{ engine: 'allow', or: [{ engine: 'allow' }] }, 'and'];
  return found;
}

function nested(list: 'and' | 'or'): Record<string, readonly [Spec, ...string[]]> {
  const wrong = (rule: unknown): Spec => ({ engine: 'complex', [list]: [{ engine: 'allow' }, rule] });
  return {
    [`${list}: nothing in it`]: [{ engine: 'complex', [list]: [] }, list],
    [`${list}: an object`]: [{ engine: 'complex', [list]: { engine: 'allow' } }, list],
    [`${list}: too many rules`]: [
      { engine: 'complex', [list]: Array.from({ length: 33 }, () => ({ engine: 'allow' })) },
      list,
    ],
    [`${list}: a rule without engine`]: [wrong({ matcho }), `${list}[1].engine`],
    [`${list}: an engine nobody knows`]: [wrong({ engine: 'deny' }), `${list}[1].engine`],
    [`${list}: an engine that is a number`]: [wrong({ engine: 1 }), `${list}[1].engine`],
    [`${list}: complex in complex`]: [wrong({ engine: 'complex', and: [] }), `${list}[1].and`, `${list}[1].engine`],
    [`${list}: a rule that is text`]: [wrong('true'), `${list}[1]`],
    [`${list}: a rule without its field`]: [wrong({ engine: 'matcho' }), `${list}[1]`],
    [`${list}: a rule with another's field`]: [wrong({ engine: 'cel', matcho }), `${list}[1]`],
    [`${list}: allow with a field`]: [wrong({ engine: 'allow', schema }), `${list}[1]`],
    [`${list}: a rule with two fields`]: [wrong({ engine: 'cel', expression: 'true', schema }), `${list}[1]`],
    [`${list}: a rule with links`]: [wrong({ engine: 'allow', link: [] }), `${list}[1].link`],
    [`${list}: an expression of nothing`]: [wrong({ engine: 'cel', expression: '' }), `${list}[1].expression`],
    [`${list}: an expression that is true`]: [wrong({ engine: 'cel', expression: true }), `${list}[1].expression`],
    [`${list}: an expression with a bell`]: [wrong({ engine: 'cel', expression: '\u0007' }), `${list}[1].expression`],
    [`${list}: a long expression`]: [wrong({ engine: 'cel', expression: letters(8193) }), `${list}[1].expression`],
    [`${list}: a schema that is true`]: [wrong({ engine: 'json-schema', schema: true }), `${list}[1].schema`],
    [`${list}: a schema of many members`]: [wrong({ engine: 'json-schema', schema: many() }), `${list}[1].schema`],
    [`${list}: a pattern that is text`]: [wrong({ engine: 'matcho', matcho: 'x' }), `${list}[1].matcho`],
    [`${list}: a pattern of many members`]: [wrong({ engine: 'matcho', matcho: many() }), `${list}[1].matcho`],
  };
}

function many(): Spec {
  return Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`m${i}`, i]));
}
