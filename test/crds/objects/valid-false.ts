import { validFalse, type Row, type Spec } from './row.ts';

/** Objects that the API server takes because no rule of a CRD can tell; they grant nothing and have Valid=False. */
export const validFalseRows: readonly Row[] = [
  // Refused by the compiler of policies (api/policy/compile.ts).
  ...validFalse('AccessPolicy', {
    'a JSON Schema with a keyword nobody knows': [schema({ properties: { uri: { constant: '/orders' } } })],
    'a JSON Schema with a type nobody knows': [schema({ type: 'text' })],
    'a JSON Schema whose minimum is text': [schema({ properties: { time: { type: 'integer', minimum: '1' } } })],
    'a JSON Schema whose required is text': [schema({ required: 'uri' })],
    'a JSON Schema with a reference to nothing': [schema({ $ref: '#/definitions/none' })],
    'a JSON Schema with a reference elsewhere': [schema({ $ref: 'https://example.com/schema.json' })],
    'a JSON Schema with an expression that is not regular': [
      schema({ properties: { uri: { type: 'string', pattern: '(' } } }),
    ],
    'a JSON Schema with a look-ahead': [schema({ properties: { uri: { type: 'string', pattern: '^(?!/admin)' } } })],
    'a JSON Schema of a draft nobody knows': [schema({ $schema: 'http://json-schema.org/draft-00/schema#' })],
    'a pattern with a word nobody knows': [{ engine: 'matcho', matcho: { uri: { $regex: '^/orders' } } }],
    'a pattern with an expression that is not regular': [{ engine: 'matcho', matcho: { uri: '#(' } }],
    'a pattern with a back-reference': [{ engine: 'matcho', matcho: { uri: '#^/(a)\\1$' } }],
    'a pattern whose $enum is no list': [{ engine: 'matcho', matcho: { uri: { $enum: '/orders' } } }],
    'a pattern whose $one-of is no list': [{ engine: 'matcho', matcho: { uri: { '$one-of': '/orders' } } }],
    'a pattern whose $cidr is a single address': [
      { engine: 'matcho', matcho: { 'remote-addr': { $cidr: '192.0.2.1' } } },
    ],
    'a pattern whose $cidr has too many bits': [
      { engine: 'matcho', matcho: { 'remote-addr': { $cidr: '10.0.0.0/33' } } },
    ],
    'a pattern for a part that no request has': [{ engine: 'matcho', matcho: { $not: { metod: 'post' } } }],
    'a pattern with a path into no part of a request': [{ engine: 'matcho', matcho: { uri: { $not: '.usr.id' } } }],
    'a pattern for a field that no client has': [{ engine: 'matcho', matcho: { client: { naem: { $not: 'x' } } } }],
    'a JSON Schema for a part that no request has': [schema({ properties: { method: { const: 'get' } } })],
    'an expression that is not finished': [{ engine: 'cel', expression: 'uri ==' }],
    'an expression about a variable nobody knows': [{ engine: 'cel', expression: 'request.uri == "/orders"' }],
    'an expression with a bracket too many': [{ engine: 'cel', expression: 'true)' }],
    'a rule in complex that does not compile': [
      { engine: 'complex', or: [{ engine: 'allow' }, { engine: 'cel', expression: '((' }] },
    ],
    'a pattern in complex that does not compile': [
      { engine: 'complex', and: [{ engine: 'matcho', matcho: { uri: { $like: 'x' } } }] },
    ],
  }),
  // Refused by our own check, in free JSON whose members a CRD does not see.
  ...validFalse('AccessPolicy', {
    'a pattern for constructor': [{ engine: 'matcho', matcho: { constructor: 'x' } }, 'matcho.constructor'],
    'a schema for prototype': [schema({ properties: { prototype: true } }), 'schema.properties.prototype'],
    'a pattern with a NUL': [{ engine: 'matcho', matcho: { uri: 'a\0b' } }, 'matcho.uri'],
    'a pattern with a NUL in a name': [{ engine: 'matcho', matcho: { 'a\0b': 'x' } }, 'matcho["a\\u0000b"]'],
    'a rule that nests too deep': [{ engine: 'matcho', matcho: deep(70) }, ''],
  }),
  ...validFalse('Client', {
    'R-21 an EC key that is no point of its curve': [
      { jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'AQAB', y: 'AQAB' }] } },
    ],
    'free data called __proto__': [{ details: ownProto() }, 'details.__proto__'],
    'free data that holds constructor': [
      { details: { a: [{ constructor: { prototype: 1 } }] } },
      'details.a[0].constructor',
      'details.a[0].constructor.prototype',
    ],
    'free data with a NUL': [{ details: { note: 'a\0' } }, 'details.note'],
    'free data that nests too deep': [{ details: deep(100) }, ''],
    'a list of free data that is too long': [
      { details: { list: Array.from({ length: 20_001 }, () => 0) } },
      'details.list',
    ],
  }),
].map((row) => ({ ...row, paths: row.paths.map((path) => (path === 'spec.' ? '' : path)) }));

function schema(rule: Spec): Spec {
  return { engine: 'json-schema', schema: rule };
}

function deep(levels: number): Spec {
  let value: Spec = { end: true };
  for (let level = 0; level < levels; level += 1) value = { in: value };
  return value;
}

/** Returns the value of JSON.parse for `{"__proto__": …}`, which has such a member of its own. */
function ownProto(): unknown {
  return JSON.parse('{"__proto__": {"polluted": true}}');
}
