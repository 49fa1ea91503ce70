import { expect } from 'chai';
import fc from 'fast-check';
import { compiled, sampleRequest } from '../policies.ts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const MISSING = Symbol('missing');

/** Checks whether a schema for the body grants a request. */
function fits(schema: Record<string, unknown> | boolean, value: unknown): boolean {
  const { $schema, $defs, definitions, ...rest } = typeof schema === 'boolean' ? {} : schema;
  const top = Object.entries({ $schema, $defs, definitions }).filter(([, given]) => given !== undefined);
  const policy = compiled({
    engine: 'json-schema',
    schema: { ...Object.fromEntries(top), properties: { body: typeof schema === 'boolean' ? schema : rest } },
  });
  expect(policy.fault).to.equal(undefined);
  return policy.allows(sampleRequest(value === MISSING ? {} : { body: value }));
}

describe('engine json-schema', () => {
  const rows: [schema: Record<string, unknown> | boolean, value: unknown, fits: boolean][] = [
    [true, 1, true],
    [false, 1, false],
    [false, MISSING, true],
    [{}, 1, true],
    [{ type: 'string' }, 'a', true],
    [{ type: 'string' }, 1, false],
    [{ type: 'string' }, MISSING, true],
    [{ type: ['string', 'null'] }, null, true],
    [{ type: 'integer' }, 5, true],
    [{ type: 'integer' }, 5.5, false],
    [{ const: 'a' }, 'a', true],
    [{ const: { a: [1] } }, { a: [1] }, true],
    [{ const: { a: [1] } }, { a: [1], b: 1 }, false],
    [{ enum: ['a', null] }, null, true],
    [{ enum: ['a', null] }, 'b', false],
    [{ pattern: '^a' }, 'abc', true],
    [{ pattern: '^a' }, 'bac', false],
    [{ pattern: '^\\p{Lu}' }, 'Éa', true],
    [{ properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } }, { a: 'a', b: 'b' }, true],
    [{ properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } }, { a: 'a', b: 'a' }, false],
    [{ allOf: [{ pattern: '^a' }, { patternProperties: {} }, { pattern: 'b$' }] }, 'aa', false],
    [{ patternProperties: { '^a$': { const: 1 }, '^b$': { const: 2 } } }, { a: 1, b: 2 }, true],
    [{ minLength: 2, maxLength: 3 }, 'abc', true],
    [{ minLength: 2, maxLength: 3 }, '😀', false],
    [{ minimum: 1, exclusiveMaximum: 5 }, 5, false],
    [{ multipleOf: 2 }, 4, true],
    [{ required: ['a'] }, { a: null }, true],
    [{ required: ['a'] }, {}, false],
    [{ required: ['toString'] }, {}, false],
    [{ required: ['constructor'] }, {}, false],
    [{ required: ['__proto__'] }, {}, false],
    [{ properties: { constructor: { const: 1 } }, required: ['constructor'] }, { constructor: 1 }, true],
    [{ properties: { a: { const: 1 } }, additionalProperties: false }, { a: 1 }, true],
    [{ properties: { a: { const: 1 } }, additionalProperties: false }, { a: 1, b: 1 }, false],
    [{ patternProperties: { '^x-': { type: 'string' } } }, { 'x-a': 1 }, false],
    [{ properties: { 'x-a': {} }, patternProperties: { '^x-': { type: 'string' } } }, { 'x-a': 'b' }, true],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, false],
    [{ minProperties: 1 }, {}, false],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, false],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1, b: 2 }, true],
    [{ prefixItems: [{ const: 1 }], items: { const: 2 } }, [1, 2, 2], true],
    [{ prefixItems: [{ const: 1 }], items: { const: 2 } }, [1, 3], false],
    [{ prefixItems: [{ const: 1 }, { const: 2 }], minItems: 2 }, [1], false],
    [{ contains: { const: 1 }, maxContains: 1 }, [1, 1], false],
    [{ contains: { const: 1 } }, [0, 1], true],
    [{ uniqueItems: true }, [1, '1', [1], { a: 1 }], true],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      false,
    ],
    [{ uniqueItems: true }, [1, 1], false],
    [{ uniqueItems: false }, [1, 1], true],
    [{ allOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, false],
    [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, true],
    [{ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1, b: 1 }, false],
    [{ not: { required: ['a'] } }, { a: 1 }, false],
    [{ if: { required: ['a'] }, then: { required: ['b'] }, else: false }, { a: 1, b: 1 }, true],
    [{ if: { required: ['a'] }, then: { required: ['b'] }, else: false }, {}, false],
    [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1 }, true],
    [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1, b: 1 }, false],
    [{ prefixItems: [{}], unevaluatedItems: false }, [1, 2], false],
    [{ $defs: { id: { type: 'string' } }, $ref: '#/$defs/id' }, 'a', true],
    [{ $defs: { id: { type: 'string' } }, $ref: '#/$defs/id' }, 5, false],
    [{ $defs: { yes: true }, $ref: '#/$defs/yes' }, 5, true],
    [{ $defs: { 'a/b~c': false }, $ref: '#/$defs/a~1b~0c' }, 5, false],
    [{ $defs: { id: { type: 'string' } }, $ref: '#/$defs/id', minLength: 3 }, 'a', false],
    [
      { $defs: { tree: { type: 'object', additionalProperties: { $ref: '#/$defs/tree' } } }, $ref: '#/$defs/tree' },
      { a: { b: {} } },
      true,
    ],
    [
      { $defs: { tree: { type: 'object', additionalProperties: { $ref: '#/$defs/tree' } } }, $ref: '#/$defs/tree' },
      { a: { b: 1 } },
      false,
    ],
    [{ title: 't', description: 'd', default: 1, examples: [1], deprecated: true, $comment: 'c' }, 1, true],
    // draft-07
    [{ $schema: DRAFT_07, items: [{ const: 1 }], additionalItems: false }, [1], true],
    [{ $schema: DRAFT_07, items: [{ const: 1 }], additionalItems: false }, [1, 2], false],
    [{ $schema: DRAFT_07, dependencies: { a: ['b'], c: { required: ['d'] } } }, { c: 1 }, false],
    [{ $schema: DRAFT_07, definitions: { id: { type: 'string' } }, $ref: '#/definitions/id' }, 1, false],
    // formats
    [{ format: 'date-time' }, '2026-11-21T09:54:20Z', true],
    [{ format: 'date-time' }, 'yesterday', false],
    [{ format: 'email' }, 'a@example.com', true],
    [{ format: 'ipv4' }, '192.0.2.256', false],
    [{ format: 'uuid' }, '0199c0de-0000-7000-8000-000000000001', true],
    [{ format: 'uri' }, 'not a uri', false],
  ];
  for (const [schema, value, expected] of rows) {
    const shown = value === MISSING ? 'a missing value' : JSON.stringify(value);
    it(`${JSON.stringify(schema)} ${expected ? 'takes' : 'refuses'} ${shown}`, () => {
      expect(fits(schema, value)).to.equal(expected);
    });
  }

  it('sees the whole request object', () => {
    const schema = {
      type: 'object',
      required: ['request-method', 'uri', 'client'],
      properties: {
        'request-method': { const: 'get' },
        client: { properties: { id: { const: 'reports' } }, required: ['id'] },
      },
    };
    expect(compiled({ engine: 'json-schema', schema }).allows(sampleRequest())).to.be.true;
    expect(compiled({ engine: 'json-schema', schema }).allows(sampleRequest({ method: 'PUT' }))).to.be.false;
  });

  it('takes $id at the top, also the same one in two policies, and finds nobody by it', () => {
    const named = (type: string) => ({ $id: 'https://example.com/s', properties: { uri: { type } } });
    expect(compiled({ engine: 'json-schema', schema: named('string') }).allows(sampleRequest())).to.be.true;
    expect(compiled({ engine: 'json-schema', schema: named('number') }).allows(sampleRequest())).to.be.false;
    const foreign = { $ref: 'https://example.com/s' };
    expect(compiled({ engine: 'json-schema', schema: foreign }).fault).to.contain('must point at');
  });

  it('a value of __proto__ in a request reaches no prototype', () => {
    const body = Object.fromEntries([['__proto__', { admin: true }]]);
    expect(fits({ required: ['admin'] }, body)).to.be.false;
    expect(fits({ properties: { admin: { const: true } }, required: ['admin'] }, body)).to.be.false;
    expect(fits({ additionalProperties: false }, body)).to.be.false;
    expect(Object.hasOwn(Object.prototype, 'admin')).to.be.false;
  });

  it('answers a catastrophic expression over 30,000 characters', () => {
    expect(fits({ pattern: '(a+)+$' }, `${'a'.repeat(30_000)}!`)).to.be.false;
  });

  it('const takes exactly what equals it', () => {
    fc.assert(
      fc.property(safeJson, safeJson, (one, other) => {
        expect(fits({ const: one }, one)).to.be.true;
        expect(fits({ const: one }, other)).to.equal(canonical(one) === canonical(other));
      }),
    );
  });

  it('a schema with a word that nobody knows grants nothing', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z]{3,10}-[a-z]{1,5}$/),
        fc.jsonValue(),
        fc.constantFrom('top', 'below'),
        (word, value, where) => {
          const schema = where === 'top' ? { [word]: value } : { anyOf: [true, { [word]: value }] };
          expect(compiled({ engine: 'json-schema', schema }).allows(sampleRequest())).to.be.false;
        },
      ),
    );
  });

  it('never throws, whatever the schema and the request', () => {
    const keyword = fc.constantFrom(
      'type',
      'const',
      'items',
      'properties',
      '$ref',
      'allOf',
      'pattern',
      'format',
      'not',
      '$defs',
      'enum',
      '$id',
    );
    const schema = fc.oneof(fc.anything(), fc.dictionary(keyword, fc.anything(), { maxKeys: 3 }));
    fc.assert(
      fc.property(schema, fc.anything(), (rule, body) => {
        expect(compiled({ engine: 'json-schema', schema: rule }).allows(sampleRequest({ body }))).to.be.a('boolean');
      }),
    );
  });
});

/** Without -0, which JSON does not tell from 0, and without __proto__, which is a fault in a schema. */
const safeJson = fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)));

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join()}}`;
}
