import { expect } from 'chai';
import fc from 'fast-check';
import { STEPS_PER_DECISION, type Steps } from '../../../api/policy/steps.ts';
import { briefSteps, compiled, countedSteps, sampleRequest } from '../policies.ts';

const MISSING = Symbol('missing');

/** Lays a pattern over the body of a request with user 7. */
function fits(pattern: unknown, value: unknown): boolean {
  const policy = compiled({ engine: 'matcho', matcho: { body: pattern } });
  expect(policy.fault).to.equal(undefined);
  const body = value === MISSING ? {} : { body: value };
  return policy.allows(sampleRequest({ user: { id: 7, groups: [{ name: 'staff' }] }, ...body }));
}

describe('engine matcho', () => {
  const rows: [pattern: unknown, value: unknown, fits: boolean][] = [
    // Literals: equal, of the same type.
    ['a', 'a', true],
    ['a', 'A', false],
    ['a', 'ab', false],
    ['', '', true],
    ['5', 5, false],
    [5, 5, true],
    [5, 5.0, true],
    [5, '5', false],
    [0, false, false],
    [true, true, true],
    [true, 'true', false],
    [false, null, false],
    [null, null, true],
    [null, false, false],
    ['a', MISSING, false],
    [null, MISSING, false],
    [false, MISSING, false],
    // Objects: every key of the pattern, others are free.
    [{ a: 1 }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, true],
    [{ a: 1, b: 2 }, { a: 1 }, false],
    [{ a: { b: { c: 1 } } }, { a: { b: { c: 1, d: 2 } } }, true],
    [{ a: { b: { c: 1 } } }, { a: { b: [] } }, false],
    [{ a: 1 }, [{ a: 1 }], false],
    [{ a: 1 }, 'a', false],
    [{ a: 1 }, null, false],
    [{ a: 1 }, MISSING, false],
    [{}, {}, true],
    [{}, { a: 1 }, true],
    [{}, [], false],
    [{}, 'a', false],
    [{}, null, false],
    [{}, MISSING, false],
    [{ toString: 'present?' }, {}, false],
    [{ constructor: 'present?' }, {}, false],
    [{ length: 1 }, 'a', false],
    [{ length: 1 }, ['a'], false],
    // Arrays: position by position, further elements are free.
    [[1, 2], [1, 2], true],
    [[1, 2], [1, 2, 3], true],
    [[1, 2], [2, 1], false],
    [[1, 2], [1], false],
    [[1, 'nil?'], [1], true],
    [[], [], true],
    [[], [1], true],
    [[], {}, false],
    [[], 'a', false],
    [[], MISSING, false],
    [[{ a: 1 }], [{ a: 1, b: 2 }], true],
    [['a'], { 0: 'a' }, false],
    // Regular expressions: anywhere in a string.
    ['#lie', 'Client', true],
    ['#^lie', 'Client', false],
    ['#^C.*t$', 'Client', true],
    ['#', 'anything', true],
    ['#', MISSING, false],
    ['#5', 5, false],
    ['#a', ['a'], false],
    ['#null', null, false],
    ['##', 'a#b', true],
    // Paths into the request: equal and present.
    ['.user.id', 7, true],
    ['.user.id', '7', true],
    ['.user.id', '07', false],
    ['.user.id', 8, false],
    ['.user.data.nope', MISSING, false],
    ['.user.data.nope', null, false],
    ['.user.groups.0.name', 'staff', true],
    ['.user.groups', [{ name: 'staff' }], true],
    ['.user.groups', [{ name: 'staff', more: 1 }], false],
    ['.user.groups.length', 1, false],
    ['.user.groups.-1.name', 'staff', false],
    ['.user.groups.00.name', 'staff', false],
    ['.user.data.toString', MISSING, false],
    ['.request-method', 'get', true],
    // Words.
    ['present?', 'a', true],
    ['present?', 0, true],
    ['present?', false, true],
    ['present?', '', true],
    ['present?', {}, true],
    ['present?', null, false],
    ['present?', MISSING, false],
    ['nil?', MISSING, true],
    ['nil?', null, true],
    ['nil?', 0, false],
    ['nil?', false, false],
    ['nil?', '', false],
    ['nil?', 'nil?', false],
    ['not-blank?', 'a', true],
    ['not-blank?', ' a ', true],
    ['not-blank?', '', false],
    ['not-blank?', ' \t\n', false],
    ['not-blank?', 5, false],
    ['not-blank?', ['a'], false],
    ['not-blank?', null, false],
    ['not-blank?', MISSING, false],
    ['Present?', 'Present?', true],
    ['present', 'present', true],
    // $enum: literals, nothing is special.
    [{ $enum: ['a', 'b'] }, 'b', true],
    [{ $enum: ['a', 'b'] }, 'c', false],
    [{ $enum: ['#a'] }, '#a', true],
    [{ $enum: ['#a'] }, 'a', false],
    [{ $enum: ['.user.id'] }, '.user.id', true],
    [{ $enum: ['.user.id'] }, 7, false],
    [{ $enum: ['present?'] }, 'x', false],
    [{ $enum: [null] }, null, true],
    [{ $enum: [null] }, MISSING, false],
    [{ $enum: [{ a: 1 }] }, { a: 1 }, true],
    [{ $enum: [{ a: 1 }] }, { a: 1, b: 2 }, false],
    [{ $enum: [[1]] }, [1, 2], false],
    // $one-of: patterns.
    [{ '$one-of': ['#^a', '.user.id'] }, 'abc', true],
    [{ '$one-of': ['#^a', '.user.id'] }, 7, true],
    [{ '$one-of': ['#^a', '.user.id'] }, 'xa', false],
    [{ '$one-of': ['a', 'nil?'] }, MISSING, true],
    [{ '$one-of': ['a', 'b'] }, MISSING, false],
    // $not.
    [{ $not: 'a' }, 'b', true],
    [{ $not: 'a' }, 'a', false],
    [{ $not: 'a' }, MISSING, true],
    [{ $not: 'nil?' }, MISSING, false],
    [{ $not: { $not: 'a' } }, 'a', true],
    [{ $not: { a: 1 } }, { a: 1, b: 2 }, false],
    // $contains: some element.
    [{ $contains: 'a' }, ['b', 'a'], true],
    [{ $contains: 'a' }, ['b'], false],
    [{ $contains: 'a' }, [], false],
    [{ $contains: 'a' }, 'a', false],
    [{ $contains: 'nil?' }, MISSING, false],
    [{ $contains: { a: '#1' } }, [{ a: '0' }, { a: '01', b: 1 }], true],
    [{ $contains: 'nil?' }, [null], true],
    // $every.
    [{ $every: '#a' }, ['a', 'ba'], true],
    [{ $every: '#a' }, ['a', 'b'], false],
    [{ $every: '#a' }, [], true],
    [{ $every: '#a' }, 'a', false],
    [{ $every: 'nil?' }, MISSING, false],
    // $cidr: a text that is an address within the network.
    [{ $cidr: '10.0.0.0/8' }, '10.1.2.3', true],
    [{ $cidr: '10.0.0.0/8' }, '11.1.2.3', false],
    [{ $cidr: '10.9.9.9/8' }, '10.1.2.3', true],
    [{ $cidr: '192.0.2.1/32' }, '192.0.2.1', true],
    [{ $cidr: '192.0.2.1/32' }, '192.0.2.10', false],
    [{ $cidr: '0.0.0.0/0' }, '203.0.113.9', true],
    [{ $cidr: '0.0.0.0/0' }, '2001:db8::1', false],
    [{ $cidr: '2001:db8::/32' }, '2001:DB8:0:0::1', true],
    [{ $cidr: '2001:db8::/32' }, '2001:db9::1', false],
    [{ $cidr: '::/0' }, '10.1.2.3', false],
    // An IPv4-mapped address is the IPv4 address in it, so no network can be left by writing it otherwise.
    [{ $cidr: '10.0.0.0/8' }, '::ffff:10.1.2.3', true],
    [{ $cidr: '10.0.0.0/8' }, '::ffff:a01:203', true],
    [{ $not: { $cidr: '10.0.0.0/8' } }, '::FFFF:10.1.2.3', false],
    [{ $cidr: '::/0' }, '::ffff:10.1.2.3', false],
    [{ $cidr: '10.0.0.0/8' }, '10.1.2.3/32', false],
    [{ $cidr: '10.0.0.0/8' }, '10.1.2', false],
    [{ $cidr: '10.0.0.0/8' }, '10.1.2.3 ', false],
    [{ $cidr: '10.0.0.0/8' }, '10.1.2.03', false],
    [{ $cidr: 'fe80::/10' }, 'fe80::1%eth0', false],
    [{ $cidr: '0.0.0.0/0' }, '', false],
    [{ $cidr: '0.0.0.0/0' }, 'localhost', false],
    [{ $cidr: '0.0.0.0/0' }, 167772161, false],
    [{ $cidr: '0.0.0.0/0' }, ['10.1.2.3'], false],
    [{ $cidr: '0.0.0.0/0' }, null, false],
    [{ $cidr: '0.0.0.0/0' }, MISSING, false],
    [{ $contains: { $cidr: '10.0.0.0/8' } }, ['192.0.2.1', '10.0.0.1'], true],
    [{ '$one-of': [{ $cidr: '10.0.0.0/8' }, { $cidr: '2001:db8::/32' }] }, '2001:db8::1', true],
    [{ $cidr: '10.0.0.0/8', $not: { $cidr: '10.1.0.0/16' } }, '10.2.0.1', true],
    [{ $cidr: '10.0.0.0/8', $not: { $cidr: '10.1.0.0/16' } }, '10.1.0.1', false],
    // Words beside words and keys: all hold.
    [{ $not: 'b', $enum: ['a', 'b'] }, 'a', true],
    [{ $not: 'b', $enum: ['a', 'b'] }, 'b', false],
    [{ a: 1, $not: { b: 'present?' } }, { a: 1 }, true],
    [{ a: 1, $not: { b: 'present?' } }, { a: 1, b: 1 }, false],
    [{ a: 'nil?', $not: { b: 'present?' } }, MISSING, false],
    [{ $contains: 'a', $every: '#^.$' }, ['a', 'b'], true],
    [{ $contains: 'a', $every: '#^.$' }, ['a', 'bb'], false],
  ];
  for (const [pattern, value, expected] of rows) {
    const shown = value === MISSING ? 'a missing value' : JSON.stringify(value);
    it(`${JSON.stringify(pattern)} ${expected ? 'fits' : 'does not fit'} ${shown}`, () => {
      expect(fits(pattern, value)).to.equal(expected);
    });
  }

  it('keeps a key called __proto__ a key', () => {
    const named = Object.fromEntries([['__proto__', { admin: true }]]);
    expect(fits(named, {})).to.be.false;
    expect(fits(named, { admin: true })).to.be.false;
    expect(fits(named, Object.fromEntries([['__proto__', { admin: true }]]))).to.be.true;
  });

  const faults: [matcho: unknown, fault: string | RegExp][] = [
    [undefined, 'matcho: must be given: a pattern, which is an object'],
    [null, /^matcho: must be given/],
    ['present?', /^matcho: must be given/],
    [[{}], /^matcho: must be given/],
    [{ user: { $foo: 1 } }, /^matcho\.user\.\$foo: is not a known word; the words are \$enum, \$one-of, /],
    [{ user: { $: 1 } }, /^matcho\.user\.\$: is not a known word/],
    [{ $Not: 'a' }, /^matcho\.\$Not: is not a known word/],
    [{ body: { $enum: [] } }, 'matcho.body.$enum: must be a list with at least one element'],
    [{ body: { $enum: 'x' } }, /^matcho\.body\.\$enum: must be a list/],
    [{ body: { '$one-of': {} } }, /^matcho\.body\.\$one-of: must be a list/],
    [{ body: { '$one-of': ['b', { $x: 1 }] } }, /^matcho\.body\.\$one-of\[1\]\.\$x: is not a known word/],
    [
      { body: { $not: { $contains: { $every: { $x: 1 } } } } },
      /^matcho\.body\.\$not\.\$contains\.\$every\.\$x: is not a known word/,
    ],
    [{ body: [1, '#('] }, /^matcho\.body\[1\]: is not a regular expression of RE2/],
    [{ body: '#(?=x)' }, /^matcho\.body: is not a regular expression of RE2/],
    [{ body: '.' }, 'matcho.body: must be a path like ".user.id", not "."'],
    [{ body: '.user..id' }, /^matcho\.body: must be a path/],
    [{ body: '.user.' }, /^matcho\.body: must be a path/],
    [
      { 'remote-addr': { $cidr: '10.0.0.0' } },
      /^matcho\.remote-addr\.\$cidr: must be a network in CIDR notation, such as "10\.0\.0\.0\/8" or "2001:db8::\/32"$/,
    ],
    [{ body: { $cidr: '10.0.0.0/33' } }, /^matcho\.body\.\$cidr: must be a network/],
    [{ body: { $cidr: '10.0.0/8' } }, /^matcho\.body\.\$cidr: must be a network/],
    [{ body: { $cidr: '::ffff:10.0.0.0/104' } }, /^matcho\.body\.\$cidr: must be a network/],
    [{ body: { $cidr: '.user.data' } }, /^matcho\.body\.\$cidr: must be a network/],
    [{ body: { $cidr: ['10.0.0.0/8'] } }, /^matcho\.body\.\$cidr: must be a network/],
    [{ body: { '$one-of': ['b', { $cidr: 8 }] } }, /^matcho\.body\.\$one-of\[1\]\.\$cidr: must be a network/],
    [{ params: { 'a b': { $x: 1 } } }, /^matcho\.params\["a b"\]\.\$x: is not a known word/],
    // A name that no request has would fit a missing value: under $not or nil? every request.
    [
      { metod: { $not: 'post' } },
      'matcho.metod: is not a part of a request; the parts are request-method, uri, params, headers, remote-addr, box, time, body, changes, resource, client, user, session, token. Did you mean `request-method`?',
    ],
    [{ request_method: 'nil?' }, /^matcho\.request_method: is not .* Did you mean `request-method`\?$/],
    [{ users: 'nil?', uri: '/a' }, /^matcho\.users: is not .* Did you mean `user`\?$/],
    [{ 'a b': 'nil?' }, /^matcho\["a b"\]: is not a part of a request; .* token$/],
    [{ toString: 'nil?' }, /^matcho\.toString: is not a part of a request/],
    [Object.fromEntries([['__proto__', 'nil?']]), /^matcho\.__proto__: is not a part of a request/],
    [{ $not: { path: '/a' } }, /^matcho\.\$not\.path: is not .* Did you mean `uri`\?$/],
    [
      { '$one-of': [{ uri: '/a' }, { $not: { boddy: 'nil?' } }] },
      /^matcho\.\$one-of\[1\]\.\$not\.boddy: is not .* Did you mean `body`\?$/,
    ],
    [
      { client: { id: { $not: '.usr.id' } } },
      /^matcho\.client\.id\.\$not: begins with "usr", which is not a part of a request; .* Did you mean `user`\?$/,
    ],
    [{ uri: '.a' }, /^matcho\.uri: begins with "a", which is not a part of a request/],
    [{ body: undefined }, 'matcho.body: must be JSON'],
  ];
  for (const [matcho, fault] of faults) {
    it(`says what is wrong with ${JSON.stringify({ matcho }).slice(0, 60)}, and grants nothing`, () => {
      const policy = compiled({ engine: 'matcho', matcho });
      expect(policy.fault).to.match(typeof fault === 'string' ? exactly(fault) : fault);
      expect(policy.allows(sampleRequest())).to.be.false;
    });
  }

  it('fits a value to itself, where nothing in it is special', () => {
    fc.assert(
      fc.property(plainObject, (value) => {
        expect(fits(value, value)).to.be.true;
      }),
    );
  });

  it('$not fits exactly where its pattern does not', () => {
    fc.assert(
      fc.property(pattern, fc.option(fc.jsonValue({ maxDepth: 3 }), { nil: MISSING }), (inner, value) => {
        expect(fits({ $not: inner }, value)).to.equal(!fits(inner, value));
      }),
    );
  });

  it('a missing value fits only nil? and $not', () => {
    fc.assert(
      fc.property(
        pattern.filter((one) => !/nil\?|\$not/.test(JSON.stringify(one))),
        (one) => {
          expect(fits(one, MISSING)).to.be.false;
        },
      ),
    );
  });

  it('never throws, whatever the pattern and the request', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (matcho, body) => {
        expect(compiled({ engine: 'matcho', matcho }).allows(sampleRequest({ body }))).to.be.a('boolean');
        expect(compiled({ engine: 'matcho', matcho: { body: matcho } }).allows(sampleRequest({ body }))).to.be.a(
          'boolean',
        );
      }),
    );
  });

  it('answers a catastrophic expression over 30,000 characters', () => {
    expect(fits('#(a+)+$', `${'a'.repeat(30_000)}!`)).to.be.false;
  });

  const long = 'ab'.repeat(50);
  const nearly = Array.from({ length: 300 }, (_, at) => at);
  const expensive: [string, pattern: unknown, body: Record<string, unknown>, steps: () => Steps][] = [
    [
      'a large expression over each of many texts',
      { list: { $contains: '#[ab]{500}$' } },
      { list: Array(3000).fill(long) },
      briefSteps,
    ],
    [
      'a large value against many like it',
      { list: { $contains: '.body.one' } },
      { list: Array(1000).fill([...nearly, 0]), one: [...nearly, 1] },
      countedSteps,
    ],
    [
      'loops in loops',
      { a: { $every: { $every: { $every: '#^x' } } } },
      { a: Array(100).fill(Array(100).fill(Array(100).fill('x'))) },
      countedSteps,
    ],
    [
      'many addresses',
      { list: { $every: { $cidr: '10.0.0.0/8' } } },
      { list: Array(30_000).fill('10.0.0.1') },
      countedSteps,
    ],
  ];
  for (const [what, matcho, body, steps] of expensive) {
    it(`gives up on ${what}`, () => {
      const { granted, fault } = compiled({ engine: 'matcho', matcho: { body: matcho } }).evaluate(
        sampleRequest({ body }),
        steps(),
      );
      expect(granted).to.be.false;
      expect(fault).to.contain(`${STEPS_PER_DECISION} steps`);
    });
  }
});

const plainText = fc.string().filter((text) => !/^[#.]|^(present|nil|not-blank)\?$/.test(text));
const plainKey = fc.string().filter((key) => !key.startsWith('$'));
const plainObject = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    plainText,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(plainKey, tie('value'), { maxKeys: 4 }),
})).object;

/** Patterns that compile. */
const pattern = fc.letrec<{ pattern: unknown }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small' },
    plainText,
    fc.constantFrom('present?', 'nil?', 'not-blank?', '#a', '#^.$', '.user.id', '.user.data.nope', null, 5, true),
    fc.array(tie('pattern'), { maxLength: 3 }),
    fc.dictionary(plainKey, tie('pattern'), { maxKeys: 3 }),
    fc.record({ $not: tie('pattern') }),
    fc.record({ $contains: tie('pattern') }),
    fc.record({ $every: tie('pattern') }),
    fc.record({ '$one-of': fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ $cidr: fc.constantFrom('10.0.0.0/8', '::/0') }),
    fc.record({ $enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }) }),
  ),
})).pattern;

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}
