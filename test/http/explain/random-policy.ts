import type { Random } from '../../support/random.ts';
import { clients, groupNames, headerValues, parameterNames, resourceTypes } from './known-names.ts';
import type { People } from './known-names.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the fields of a random policy that is valid: of any engine, for any subjects. */
export function randomPolicy(random: Random, people: People): Fields {
  const rule = random.below(6) === 0 ? complexRule(random, people) : randomRule(random, people);
  return { ...rule, ...randomSubjects(random, people) };
}

function randomSubjects(random: Random, people: People): Fields {
  const subjects = random.pick(['linked', 'linked', 'linked', 'authenticated', 'anyone'] as const);
  const link = listOf(random, 3, () => randomLink(random, people));
  const named = subjects === 'linked' && random.below(2) === 0 ? {} : { subjects };
  return link.length === 0 ? named : { ...named, link };
}

function randomLink(random: Random, { users, groups }: People): Fields {
  switch (random.pick(['Client', 'User', 'Group', 'reference'] as const)) {
    case 'Client':
      return { resourceType: 'Client', id: random.pick(clients) };
    case 'User':
      return { resourceType: 'User', id: String(random.pick(users)) };
    case 'Group': {
      const id = random.below(2) === 0 ? String(random.pick(groups)) : random.pick(groupNames);
      return { resourceType: 'Group', id };
    }
    case 'reference':
      return {
        reference: random.below(2) === 0 ? `Client/${random.pick(clients)}` : `User/${String(random.pick(users))}`,
      };
  }
}

function complexRule(random: Random, people: People): Fields {
  const rules = [randomRule(random, people), ...listOf(random, 2, () => randomRule(random, people))];
  return random.below(2) === 0 ? { engine: 'complex', and: rules } : { engine: 'complex', or: rules };
}

function randomRule(random: Random, people: People): Fields {
  switch (random.pick(['allow', 'matcho', 'matcho', 'json-schema', 'cel', 'cel'] as const)) {
    case 'allow':
      return { engine: 'allow' };
    case 'matcho':
      return { engine: 'matcho', matcho: randomPattern(random, people) };
    case 'json-schema':
      return { engine: 'json-schema', schema: randomSchema(random, people) };
    case 'cel':
      return { engine: 'cel', expression: randomExpression(random, people) };
  }
}

/** Makes none to `most` of something. */
function listOf<T>(random: Random, most: number, make: () => T): readonly T[] {
  return Array.from({ length: random.below(most + 1) }, make);
}

type Part = (random: Random, people: People) => readonly [name: string, pattern: unknown];

/** A pattern for each part of the request object. */
const patternParts: readonly [Part, ...Part[]] = [
  (random) => [
    'request-method',
    random.pick<unknown>(['get', 'put', '#^p', { $enum: ['get', 'head', 'post'] }, { $not: 'delete' }]),
  ],
  (random) => [
    'uri',
    random.pick<unknown>(['#^/Client', '#^/users', '/users', '#%', { $not: '#Policy' }, '#explain$', '#/$']),
  ],
  (random) => [
    'params',
    {
      [random.pick(parameterNames)]: random.pick<unknown>([
        'nil?',
        'present?',
        'not-blank?',
        '5',
        '#^[a-z]',
        { $contains: 'a' },
        ['a'],
      ]),
    },
  ],
  (random) => ['params', random.pick<unknown>([{}, { access_token: 'nil?' }])],
  (random) => [
    'headers',
    { 'x-team': random.pick<unknown>(['nil?', 'present?', '#, ', { $contains: 'red' }, ...headerValues]) },
  ],
  (random) => [
    'headers',
    random.pick<unknown>([
      { authorization: 'present?' },
      { cookie: 'nil?' },
      { 'content-type': '#json' },
      { 'X-Team': 'present?' },
    ]),
  ],
  (random) => ['remote-addr', random.pick<unknown>(['127.0.0.1', '#^10[.]', 'not-blank?'])],
  (random) => ['box', random.pick<unknown>(['default', 'default', 'other'])],
  (random) => [
    'body',
    random.pick<unknown>([
      'nil?',
      'present?',
      { $not: 'nil?' },
      {},
      { password: '[present]' },
      { secret: 'present?' },
      { name: 'nil?' },
      { id: '.client.id' },
      { request: 'present?' },
      { $contains: { op: 'replace' } },
      { data: '#a' },
    ]),
  ],
  (random) => [
    'changes',
    random.pick<unknown>([
      'nil?',
      'present?',
      [],
      { $every: { $enum: ['data', 'name', 'description'] } },
      { $contains: 'secret' },
      { $contains: 'grant_types' },
      { $not: { $contains: 'status' } },
    ]),
  ],
  (random) => ['resource', { resourceType: random.pick(resourceTypes) }],
  (random, { users, groups }) => [
    'resource',
    {
      id: random.pick<unknown>([
        'nil?',
        'present?',
        '.user.id',
        '.client.id',
        '.session.id',
        '.token.jti',
        '$explain',
        random.pick(users),
        String(random.pick(groups)),
        random.pick(clients),
      ]),
    },
  ],
  (random) => [
    'client',
    random.pick<unknown>([
      'nil?',
      { id: random.pick(clients) },
      { id: '.token.sub' },
      { grant_types: { $contains: 'client_credentials' } },
      { details: 'present?' },
    ]),
  ],
  (random, { users }) => [
    'user',
    random.pick<unknown>([
      'nil?',
      { id: random.pick(users) },
      { groups: { $contains: { name: random.pick(groupNames) } } },
      { data: { a: 1 } },
      { email: '#^ann' },
      { 'group-ids': 'present?' },
    ]),
  ],
  (random) => [
    'session',
    random.pick<unknown>([
      'nil?',
      { type: 'authorization_code' },
      { user: { id: '.user.id' } },
      { user: null },
      { scope: 'nil?' },
      { scope: 'boxgate' },
      { audience: 'nil?' },
      { audience: { $contains: 'https://files.example' } },
      { client: { id: '.client.id' }, status: 'active' },
      { id: '.token.jti' },
    ]),
  ],
  (random, { issuer }) => [
    'token',
    random.pick<unknown>([
      'nil?',
      { aud: { $contains: issuer } },
      { aud: ['https://files.example'] },
      { scope: '#(^| )boxgate( |$)' },
      { scope: 'nil?' },
      { sub: '.user.id' },
      { client_id: '.session.client.id' },
      { iss: issuer, jti: 'present?' },
    ]),
  ],
];

function randomPattern(random: Random, people: People): Fields {
  const parts = [patternPart(random, people), ...listOf(random, 2, () => patternPart(random, people))];
  const pattern = Object.fromEntries(parts);
  const other = (): Fields => Object.fromEntries([patternPart(random, people)]);
  return random.pick<Fields>([
    pattern,
    pattern,
    pattern,
    { $not: pattern },
    { '$one-of': [pattern, other()] },
    { ...pattern, $not: other() },
  ]);
}

function patternPart(random: Random, people: People): readonly [string, unknown] {
  return random.pick(patternParts)(random, people);
}

const requestParts = [
  'request-method',
  'uri',
  'params',
  'headers',
  'remote-addr',
  'box',
  'body',
  'changes',
  'resource',
  'client',
  'user',
  'session',
  'token',
] as const;

function randomSchema(random: Random, { issuer }: People): Fields {
  const properties = {
    'request-method': random.pick<unknown>([{ enum: ['get', 'post'] }, { type: 'string', minLength: 4 }]),
    body: random.pick<unknown>([{ type: 'object', required: ['id'] }, { type: 'array' }, { not: { type: 'object' } }]),
    changes: random.pick<unknown>([
      { type: 'array', maxItems: 1 },
      { type: 'array', contains: { const: 'data' } },
    ]),
    headers: random.pick<unknown>([
      { type: 'object', required: ['host'] },
      { type: 'object', required: ['x-team'], properties: { 'x-team': { type: 'string' } } },
    ]),
    params: random.pick<unknown>([
      { type: 'object', maxProperties: 0 },
      { type: 'object', additionalProperties: { type: 'string' } },
    ]),
    resource: random.pick<unknown>([
      { type: 'object', required: ['id'] },
      { type: 'object', properties: { resourceType: { enum: ['User', 'Client'] } } },
    ]),
    user: { type: 'object', properties: { id: { type: random.pick(['integer', 'string'] as const) } } },
    session: { type: 'object', properties: { user: { type: random.pick(['object', 'null'] as const) } } },
    token: {
      type: 'object',
      properties: { aud: { type: 'array', items: { const: issuer } }, sub: { type: 'string' } },
    },
  };
  const chosen = Object.entries(properties).filter(() => random.below(4) === 0);
  const required = requestParts.filter(() => random.below(7) === 0);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    ...(chosen.length > 0 && { properties: Object.fromEntries(chosen) }),
  };
}

function randomExpression(random: Random, people: People): string {
  const atoms = [atom(random, people), ...listOf(random, 2, () => atom(random, people))];
  return atoms.reduce((all, one) => `${all} ${random.pick(['&&', '||'])} ${one}`);
}

function atom(random: Random, { users, groups, issuer }: People): string {
  const text = random.pick([
    'request_method == "get"',
    'request_method in ["put", "patch", "post"]',
    'uri.startsWith("/users")',
    'uri.matches("^/(Client|Group)")',
    'resource.resourceType == "User" && resource.id == user.id',
    `resource.id == "${random.pick(clients)}"`,
    'has(resource.id)',
    'resource.id == session.id',
    'resource.id == client.id',
    'user != null',
    'session == null',
    `user.id == ${String(random.pick(users))}`,
    `user.groups.exists(g, g.id == ${String(random.pick(groups))})`,
    `user.groups.exists(g, g.name == "${random.pick(groupNames)}")`,
    'token.sub == user.id',
    'token.jti == session.id',
    'has(token.scope)',
    'token.scope.contains("boxgate")',
    'session.scope == null',
    `"${issuer}" in token.aud`,
    'token.aud.size() == 2',
    `has(params.${random.pick(parameterNames)})`,
    `params.${random.pick(parameterNames)} == "5"`,
    'params.size() == 0',
    'headers["x-team"] == "red"',
    '"x-team" in headers',
    '"authorization" in headers',
    'body == null',
    'has(body.name)',
    'body.id == client.id',
    'body.password == "[present]"',
    'changes == null',
    'changes.size() == 0',
    'changes.all(field, field in ["data", "name"])',
    '"grant_types" in changes',
    'client.grant_types.exists(g, g == "client_credentials")',
    'session.type == "client_credentials"',
    'session.user.id == user.id && session.active',
    'user.data.a == 1',
    'box == "default" && remote_addr == "127.0.0.1"',
  ]);
  return random.below(4) === 0 ? `!(${text})` : `(${text})`;
}
