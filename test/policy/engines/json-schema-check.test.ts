import { expect } from 'chai';
import { compiled, sampleRequest } from '../policies.ts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

describe('check of a JSON Schema', () => {
  const faults: [schema: unknown, fault: RegExp][] = [
    [undefined, /^schema: must be given: a JSON Schema, which is an object$/],
    [true, /^schema: must be given/],
    [[], /^schema: must be given/],
    [{ properties: { uri: { constant: 1 } } }, /^schema\.properties\.uri: has the unknown keyword "constant"$/],
    [{ propertys: {} }, /^schema: has the unknown keyword "propertys". Did you mean `properties`\?$/],
    [
      { properties: { params: { properties: { 'a b': { x: 1 } } } } },
      /^schema\.properties\.params\.properties\["a b"\]: has the unknown keyword "x"$/,
    ],
    [
      { allOf: [{}, { Required: [] }] },
      /^schema\.allOf\[1\]: has the unknown keyword "Required". Did you mean `required`\?$/,
    ],
    [{ $defs: { a: { foo: 1 } } }, /^schema\.\$defs\.a: has the unknown keyword "foo"$/],
    [{ not: { if: { foo: 1 } } }, /^schema\.not\.if: has the unknown keyword "foo"$/],
    [{ prefixItems: [{ foo: 1 }] }, /^schema\.prefixItems\[0\]: has the unknown keyword "foo"$/],
    [{ dependentSchemas: { uri: { foo: 1 } } }, /^schema\.dependentSchemas\.uri: has the unknown keyword "foo"$/],
    [{ additionalItems: {} }, /^schema: has the unknown keyword "additionalItems"$/],
    [{ $schema: DRAFT_07, prefixItems: [{}] }, /^schema: has the unknown keyword "prefixItems"$/],
    [{ $schema: DRAFT_07, unevaluatedProperties: false }, /^schema: has the unknown keyword/],
    [{ $schema: 'https://json-schema.org/draft/2019-09/schema' }, /^schema\.\$schema: must be absent or one of/],
    [{ $schema: 5 }, /^schema\.\$schema: must be absent or one of/],
    // `$async` would make the answer a promise, and a promise is true.
    [{ $async: true }, /^schema: has the unknown keyword "\$async"$/],
    [{ properties: { uri: { $async: true } } }, /^schema\.properties\.uri: has the unknown keyword "\$async"$/],
    [{ nullable: true, type: 'string' }, /^schema: has the unknown keyword "nullable"$/],
    [{ $dynamicRef: '#' }, /^schema: has the unknown keyword/],
    [{ $anchor: 'a' }, /^schema: has the unknown keyword/],
    [{ 'boxgate-steps': {} }, /^schema: has the unknown keyword/],
    [{ $data: 1 }, /^schema: has the unknown keyword/],
    [
      { properties: { uri: { format: 'foo' } } },
      /^schema\.properties\.uri\.format: is the unknown format "foo"; known are date, time, /,
    ],
    [{ format: 'regex' }, /^schema\.format: is the unknown format "regex"/],
    [{ format: 'toString' }, /^schema\.format: is the unknown format/],
    [
      { properties: { uri: { pattern: '(' } } },
      /^schema\.properties\.uri\.pattern: is not a regular expression of RE2/,
    ],
    [{ pattern: 'a(?!b)' }, /^schema\.pattern: is not a regular expression of RE2/],
    [
      { patternProperties: { '(a)\\1': {} } },
      /^schema\.patternProperties\["\(a\)\\\\1"\]: is not a regular expression of RE2/,
    ],
    [{ type: 'strin' }, /^schema\.type: must be equal to one of the allowed values$/],
    [{ properties: { time: { minimum: '5' } } }, /^schema\.properties\.time\.minimum: must be number$/],
    [{ properties: { uri: 5 } }, /^schema\.properties\.uri: must be object,boolean$/],
    [{ required: 'a' }, /^schema\.required: must be array$/],
    [{ items: [{}] }, /^schema\.items: must be object,boolean$/],
    [{ pattern: 5 }, /^schema\.pattern: must be string$/],
    [{ $ref: 'https://example.com/schema' }, /^schema\.\$ref: must point at a subschema of this schema/],
    [{ $ref: 'https://json-schema.org/draft/2020-12/schema' }, /^schema\.\$ref: must point at/],
    [{ $ref: '#/$defs/nope' }, /^schema\.\$ref: must point at/],
    [{ $ref: '#/%24defs/a', $defs: { a: {} } }, /^schema\.\$ref: must point at/],
    [{ $ref: '#/const', const: { type: 'string' } }, /^schema\.\$ref: must point at/],
    [{ properties: { uri: { $id: 'b' } } }, /^schema\.properties\.uri\.\$id: may stand at the top of the schema only$/],
    [{ properties: { uri: { $schema: DRAFT_07 } } }, /^schema\.properties\.uri\.\$schema: may stand at the top/],
    [
      { properties: { body: { properties: Object.fromEntries([['__proto__', { const: 1 }]]) } } },
      /^schema\.properties\.body\.properties: must not use the name __proto__$/,
    ],
    // A name that no request has would say nothing, and the schema would grant.
    [
      { properties: { method: { const: 'get' } } },
      /^schema\.properties\.method: is not a part of a request; the parts are request-method, .*`request-method`\?$/,
    ],
    [
      { properties: Object.fromEntries([['__proto__', { const: 1 }]]) },
      /^schema\.properties\.__proto__: is not a part of a request; /,
    ],
    [{ properties: { toString: {} } }, /^schema\.properties\.toString: is not a part of a request; /],
    [{ required: ['uri', 'usr'] }, /^schema\.required: names "usr", which is not a part .* Did you mean `user`\?$/],
    [{ not: { required: ['usr'] } }, /^schema\.not\.required: names "usr", which is not a part of a request; /],
    [
      { anyOf: [{ required: ['uri'] }, { if: { properties: { bodies: {} } }, then: {} }] },
      /^schema\.anyOf\[1\]\.if\.properties\.bodies: is not a part of a request; /,
    ],
    [{ dependentRequired: { usr: ['uri'] } }, /^schema\.dependentRequired\.usr: is not a part of a request; /],
    [
      { dependentSchemas: { user: { properties: { method: {} } } } },
      /^schema\.dependentSchemas\.user\.properties\.method: is not a part of a request; /,
    ],
    // E-19
    [
      { properties: { client: { properties: { naem: { const: 'x' } } } } },
      /^schema\.properties\.client\.properties\.naem: is not a field of client; .* Did you mean `name`\?$/,
    ],
    [
      { not: { properties: { user: { anyOf: [{ required: ['mail'] }] } } } },
      /^schema\.not\.properties\.user\.anyOf\[0\]\.required: names "mail", which is not a field of user; .*`email`\?$/,
    ],
    [
      { properties: { box: { required: ['id'] } } },
      /^schema\.properties\.box\.required: names "id", which is not a field of box, which is a text$/,
    ],
    [nested(40), /^schema: must not nest deeper than 32 subschemas$/],
    [nested(5000), /^schema: (must not nest deeper|nests too deeply)/],
    [{ allOf: Array.from({ length: 151 }, () => ({})) }, /^schema: must have at most 150 subschemas/],
    [manyReferences(), /^schema: must have at most 150 subschemas, those behind references included$/],
  ];
  for (const [schema, fault] of faults) {
    it(`says what is wrong with ${shortened(schema)}, and grants nothing`, () => {
      const policy = compiled({ engine: 'json-schema', schema });
      expect(policy.fault).to.match(fault);
      expect(policy.allows(sampleRequest())).to.be.false;
    });
  }
});

function nested(depth: number): unknown {
  return Array.from({ length: depth }).reduce<unknown>((inner) => ({ not: inner }), {});
}

/** A large definition, and references to each of its parts. */
function manyReferences(): unknown {
  const parts = Array.from({ length: 30 }, () => ({ anyOf: Array.from({ length: 5 }, () => ({ type: 'string' })) }));
  const inner = { allOf: [{ allOf: [{ allOf: parts }] }] };
  const pointers = ['#/$defs/a', '#/$defs/a/allOf/0', '#/$defs/a/allOf/0/allOf/0', '#/$defs/a/allOf/0/allOf/0/allOf/1'];
  return { $defs: { a: inner }, anyOf: pointers.map(($ref) => ({ $ref })) };
}

function shortened(schema: unknown): string {
  try {
    return JSON.stringify({ schema }).slice(0, 70);
  } catch {
    return 'a very deep one';
  }
}
