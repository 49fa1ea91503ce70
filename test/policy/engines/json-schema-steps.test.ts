import { expect } from 'chai';
import { FORMATS } from '../../../api/policy/engines/json-schema-dialect.ts';
import { MILLISECONDS_PER_DECISION, STEPS_PER_DECISION } from '../../../api/policy/steps.ts';
import { briefSteps, compiled, countedSteps, sampleRequest } from '../policies.ts';

/** A policy by a schema for the body. */
function bodyPolicy({ $defs = {}, ...schema }: Record<string, unknown>) {
  return compiled({ engine: 'json-schema', schema: { $defs, properties: { body: schema } } });
}

describe('steps of a JSON Schema', () => {
  for (const format of Object.keys(FORMATS)) {
    it(`checks format ${format} in linear time`, () => {
      const policy = bodyPolicy({ format });
      for (const piece of [
        'a',
        '1',
        'a.',
        'a-',
        '-',
        ':',
        '1:',
        '/',
        '%',
        '{a}',
        '{a,',
        '~',
        '~0',
        'P1Y',
        '@',
        'a@',
        '[',
        '.',
        ' ',
        '2026-',
      ]) {
        for (const end of ['', '!', '\n', '@', ']']) {
          expect(policy.allows(sampleRequest({ body: `${piece.repeat(20_000)}${end}` }))).to.be.a('boolean');
        }
      }
    });
  }

  const long = Array.from({ length: 20_000 }, (_, at) => at);
  const texts = long.slice(0, 2000).map((at) => `${'v'.repeat(200)}${at}`);
  const expensive: [what: string, schema: Record<string, unknown>, value: unknown][] = [
    ['references that branch at each of twenty levels', branching(20), {}],
    ['a reference to itself', { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, {}],
    [
      'references that come back to each other',
      {
        $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } },
        $ref: '#/$defs/a',
      },
      {},
    ],
    [
      'a branching walk down a deep value',
      {
        $defs: {
          t: { allOf: [{ $ref: '#/$defs/u' }, { $ref: '#/$defs/u' }] },
          u: { properties: { a: { $ref: '#/$defs/t' } } },
        },
        $ref: '#/$defs/t',
      },
      deep(60),
    ],
    [
      'many searches of a long list',
      { anyOf: Array.from({ length: 50 }, () => ({ contains: { type: 'string' } })) },
      long,
    ],
    [
      'many looks at each element of a long list',
      { anyOf: Array.from({ length: 60 }, () => ({ contains: false })) },
      [...long, ...long],
    ],
    [
      'a long enum for each element of a long list',
      { items: { not: { enum: Array.from({ length: 4000 }, (_, at) => `x${at}`) } } },
      long,
    ],
    [
      'many patterns for each of many keys',
      { patternProperties: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`^[a-z]{${at + 1}}$`, {}])) },
      Object.fromEntries(long.map((at) => [`key${at}`, at])),
    ],
    ['uniqueItems over a large list', { uniqueItems: true }, Array.from({ length: 2000 }, () => long.slice(0, 200))],
  ];
  for (const [what, schema, value] of expensive) {
    it(`gives up on ${what}`, () => {
      const policy = bodyPolicy(schema);
      expect(policy.fault).to.equal(undefined);
      const { granted, fault } = policy.evaluate(sampleRequest({ body: value }));
      expect(granted).to.be.false;
      expect(fault).to.match(new RegExp(`${STEPS_PER_DECISION} steps|nests too deeply`));
    });
  }

  const patterns: [what: string, schema: Record<string, unknown>, value: unknown][] = [
    ['a large expression over a long text', { pattern: '[ab]{500}$' }, 'ab'.repeat(50_000)],
    ['a large expression over each of many keys', { patternProperties: { '[a-z0-9]{300}!': false } }, keyed(texts)],
    ['an expression that is not to be found', { not: { pattern: '[ab]{500}$' } }, 'ab'.repeat(50_000)],
  ];
  for (const [what, schema, value] of patterns) {
    it(`R-01 gives up on ${what} when the time is over`, () => {
      const { granted, fault } = bodyPolicy(schema).evaluate(sampleRequest({ body: value }), briefSteps());
      expect(granted).to.be.false;
      expect(fault).to.contain(`${MILLISECONDS_PER_DECISION} ms`);
    });
  }

  it('takes a whole list of 20,000 elements by an ordinary schema', () => {
    const policy = bodyPolicy({ items: { type: 'integer', minimum: 0 } });
    expect(policy.allows(sampleRequest({ body: long }), countedSteps())).to.be.true;
  });
});

function keyed(keys: readonly string[]): unknown {
  return Object.fromEntries(keys.map((key) => [key, 1]));
}

function deep(depth: number): unknown {
  return Array.from({ length: depth }).reduce<unknown>((inner) => ({ a: inner }), {});
}

/** Each level refers to the next one twice: 2 to the power of the levels visits. */
function branching(levels: number): Record<string, unknown> {
  const level = (at: number) => ({ allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] });
  const $defs = Object.fromEntries(Array.from({ length: levels }, (_, at): [string, unknown] => [`d${at}`, level(at)]));
  return { $defs: { ...$defs, [`d${levels}`]: { type: 'object' } }, $ref: '#/$defs/d0' };
}
