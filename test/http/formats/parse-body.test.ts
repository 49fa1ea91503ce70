import { expect } from 'chai';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { parseBody } from '../../../api/http/formats/parse-body.ts';
import { render } from '../../../api/http/formats/negotiate.ts';
import { Problem } from '../../../api/problem.ts';

const json = 'application/json';
const yaml = 'application/yaml';

/** Returns the parsed body, or the problem's code with its first field. */
function outcome(contentType: string | undefined, body: string | Buffer): unknown {
  try {
    return { value: parseBody(contentType, Buffer.from(body)) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.faults[0]?.path === '' ? error.code : `${error.code} ${error.faults[0]?.path ?? ''}`;
  }
}

function messageOf(contentType: string, body: string): string {
  try {
    parseBody(contentType, Buffer.from(body));
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
  return '';
}

describe('parseBody', () => {
  const accepted: readonly (readonly [string, string, unknown])[] = [
    [json, '{"a":[1,"é\\ud83d\\ude00",null,true,1e3,-0.5]}', { a: [1, 'é😀', null, true, 1000, -0.5] }],
    ['application/json; charset=UTF-8', '{}', {}],
    ['Application/JSON', ' { } ', {}],
    ['application/merge-patch+json', '{"a":null}', { a: null }],
    ['application/json-patch+json', '[]', []],
    [yaml, 'a: [1, é, null, yes]\nb:\n  - c: "0123"\n', { a: [1, 'é', null, true], b: [{ c: '0123' }] }],
    ['text/yaml', 'a: |\n  one\n  two\n', { a: 'one\ntwo\n' }],
    ['application/x-yaml', '{"a": {"b": 1}}', { a: { b: 1 } }],
    [yaml, '# only\na: 1 # a comment\n', { a: 1 }],
    [yaml, '---\na: !!str 0123\n...\n', { a: '0123' }],
    [yaml, '1: a\ntrue: b', { '1': 'a', true: 'b' }],
    [yaml, 'a: &here 1', { a: 1 }],
    [yaml, 'secret: null', { secret: null }],
    [yaml, 'secret: s3cr3t', { secret: 's3cr3t' }],
    [json, '{"toString":1,"a":{"hasOwnProperty":2}}', { toString: 1, a: { hasOwnProperty: 2 } }],
  ];
  for (const [type, body, value] of accepted) {
    it(`reads ${type}: ${JSON.stringify(body)}`, () => {
      expect(outcome(type, body)).to.deep.equal({ value });
    });
  }

  const refused: Readonly<Record<string, readonly (readonly [string | undefined, string | Buffer, unknown])[]>> = {
    'X-03 refuses what is no object': [
      [json, '', 'not-parsable'],
      [json, '{"a":', 'not-parsable'],
      [json, '{"a":1}x', 'not-parsable'],
      [json, "{'a':1}", 'not-parsable'],
      [json, '[]', 'not-parsable'],
      [json, '"a"', 'not-parsable'],
      [json, 'null', 'not-parsable'],
      [json, '1', 'not-parsable'],
      [json, '['.repeat(1_000_000), 'not-parsable'],
      [json, '['.repeat(500_000) + ']'.repeat(500_000), 'not-parsable'],
      [json, `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 'not-parsable'],
      [yaml, '', 'not-parsable'],
      [yaml, '- a', 'not-parsable'],
      [yaml, 'a', 'not-parsable'],
      ['application/json-patch+json', '{}', 'not-parsable'],
      ['application/merge-patch+json', '[]', 'not-parsable'],
    ],
    'X-04 refuses what it cannot read': [
      [undefined, '{}', 'unsupported-media-type'],
      ['', '{}', 'unsupported-media-type'],
      ['garbage', '{}', 'unsupported-media-type'],
      ['text/plain', '{}', 'unsupported-media-type'],
      ['application/x-www-form-urlencoded', 'a=1', 'unsupported-media-type'],
      ['application/json, text/plain', '{}', 'unsupported-media-type'],
      ['application/json; charset=utf-7', '{}', 'unsupported-media-type'],
      ['application/yaml; charset=utf-16', 'a: 1', 'unsupported-media-type'],
    ],
    'X-07 refuses names that reach a prototype': [
      [json, '{"__proto__":{"polluted":1}}', 'invalid __proto__'],
      [json, '{"a":[{"constructor":{"prototype":{"polluted":1}}}]}', 'invalid a[0].constructor'],
      [yaml, '__proto__:\n  polluted: 1', 'invalid __proto__'],
      [yaml, 'a: {prototype: 1}', 'invalid a.prototype'],
      [
        'application/json-patch+json',
        '[{"op":"add","path":"/a","value":{"__proto__":1}}]',
        'invalid [0].value.__proto__',
      ],
    ],
    'X-08 refuses text that cannot be stored': [
      [json, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'not-parsable'],
      [json, Buffer.from([0x22, 0xc0, 0x80, 0x22]), 'not-parsable'],
      [json, Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'not-parsable'],
      [json, '{"a":"\0"}', 'not-parsable'],
      [json, '{"a":"\\u0000"}', 'invalid a'],
      [json, '{"a\\u0000":1}', 'invalid ["a\\u0000"]'],
      [json, '{"a":"\\ud800"}', 'invalid a'],
      [json, '{"a":"x\\udfffy"}', 'invalid a'],
      [yaml, 'a: "\\0"', 'invalid a'],
      [yaml, 'a: \0', 'not-parsable'],
      [yaml, 'a: "\\ud800"', 'invalid a'],
    ],
    'C-03 refuses numbers that would lose digits': [
      [json, '{"a":{"b":[1,1e400]}}', 'invalid a.b[1]'],
      [json, '{"a":12345678901234567890}', 'invalid a'],
      [yaml, 'a: 12345678901234567890', 'invalid a'],
      [yaml, 'a: [.inf]', 'invalid a[0]'],
      [yaml, 'a: .nan', 'invalid a'],
    ],
    'C-05 refuses what YAML can do beyond data': [
      [yaml, 'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]', 'invalid b[0]'],
      [yaml, 'a: &a x\nb: *a', 'invalid b'],
      [yaml, `a: ${'['.repeat(10_000)}`, 'not-parsable'],
      [yaml, `a: ${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'not-parsable'],
      [yaml, '['.repeat(1_000_000), 'not-parsable'],
      [yaml, `${'- '.repeat(10_000)}a`, 'not-parsable'],
      [yaml, '? '.repeat(100_000), 'not-parsable'],
      [yaml, Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join(''), 'not-parsable'],
      [yaml, 'a: !!js/function "function () {}"', 'invalid'],
      [yaml, 'a: !!binary aGk=', 'invalid a'],
      [yaml, 'a: !!set {x, y}', 'invalid a'],
      [yaml, 'a: [!!omap [x: 1]]', 'invalid a[0]'],
      [yaml, 'a: !!timestamp 2020-01-01', 'invalid a'],
      [yaml, '!custom {a: 1}', 'invalid'],
      [yaml, '%FOO bar\n---\na: 1', 'invalid'],
      [yaml, 'a:\n  <<: {b: 1}', 'invalid a'],
      [yaml, '<<: {b: 1}', 'invalid'],
      [yaml, 'a: 1\na: 2', 'invalid a'],
      [yaml, 'b:\n  - {a: 1, "a": 2}', 'invalid b[0].a'],
      [yaml, '1: a\n"1": b', 'invalid ["1"]'],
      [yaml, '? [1, 2]\n: a', 'invalid'],
      [yaml, '? {a: 1}\n: a', 'invalid'],
      [yaml, ': a', 'invalid'],
      [yaml, 'a:\n\t- b', 'not-parsable'],
      [yaml, 'a: 1\n---\nb: 2', 'invalid'],
      [yaml, 'a: "b', 'not-parsable'],
      [yaml, 'a: }', 'not-parsable'],
      [yaml, `a: [${'[],'.repeat(3_400)}1]`, 'invalid'],
      [yaml, `a: ${'['.repeat(3)}${'x,'.repeat(5_100)}`, 'invalid'],
      [yaml, `a: |\n${'  x\n'.repeat(20_000)}`, 'invalid'],
      [yaml, '\n'.repeat(1_000_000), 'invalid'],
      [yaml, 'a: 1\n---\n'.repeat(5_000), 'invalid'],
      [json, '{"a":{"b":1,"\\u0062":2}}', 'invalid a.b'],
      [json, '{"x":[0,{"a":1,"a":1}]}', 'invalid x[1].a'],
    ],
    'C-05 asks for quotes around a secret that YAML takes for something else': [
      [yaml, 'secret: 0123', 'invalid secret'],
      [yaml, 'secret: 1e3', 'invalid secret'],
      [yaml, 'secret: no', 'invalid secret'],
      [yaml, 'secret: Yes', 'invalid secret'],
      [yaml, 'secret: true', 'invalid secret'],
      [yaml, 'secret: 1_000', 'invalid secret'],
    ],
  };
  for (const [title, rows] of Object.entries(refused)) {
    describe(title, () => {
      for (const [type, body, expected] of rows) {
        it(`${String(type)}: ${JSON.stringify(body.toString('latin1').slice(0, 60))}`, () => {
          expect(outcome(type, body)).to.equal(expected);
        });
      }
    });
  }

  it('X-03 and X-14: says where a body is broken, and repeats nothing of it', () => {
    const cases: readonly (readonly [string, string, RegExp])[] = [
      [json, '{"id":"a",\n "secret":"hunter2"', /not valid JSON/],
      [json, '{"id":"a",\n "secret":"hunter2",,}', /line 2, column \d+/],
      [json, 'hunter2', /not valid JSON/],
      [yaml, 'id: a\nsecret: "hunter2\n', /not valid YAML: missing char at line \d+, column \d+/],
      [yaml, 'id: a\nsecret: [hunter2', /not valid YAML/],
      [yaml, 'secret: !!hunter2 x', /a tag \(!…\) that is not accepted at line 1, column 9/],
      [yaml, 'secret: 7777777', /quote it .*line 1, column 9/],
    ];
    for (const [type, body, pattern] of cases) {
      expect(messageOf(type, body), body)
        .to.match(pattern)
        .and.not.match(/hunter2|7777777/);
    }
  });

  it('X-07 leaves the prototypes as they are', () => {
    outcome(json, '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    outcome(yaml, '__proto__: {polluted: 1}');
    expect(Object.getOwnPropertyNames(Object.prototype)).to.not.include('polluted');
  });

  it('reads back every value that it writes, in JSON and in YAML', () => {
    const member = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0') && !unsafe.has(text));
    const values = fc.object({
      key: member.filter((text) => text !== 'secret'),
      values: [
        member,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ],
      maxDepth: 4,
    });
    fc.assert(
      fc.property(values, fc.constantFrom('application/json', 'application/yaml', 'text/yaml'), (value, format) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        fc.pre(!loses(plain));
        const { body } = render({ status: 200, body: plain }, format);
        expect(outcome(format, body ?? '')).to.deep.equal({ value: plain });
      }),
      { numRuns: 500 },
    );
  });

  it('answers any bytes with a value or a problem', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '\\',
      '- ',
      '? ',
      ': ',
      '&a ',
      '*a',
      '!!x ',
      '|',
      '>',
      '\n',
      '  ',
      '#',
      '%',
      '---\n',
      '...\n',
      'a',
      '1',
      '<<',
      '\t',
      '@',
      '`',
      "'",
      'é',
      '\ud800',
    );
    const texts = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(texts, fc.string()), fc.constantFrom(json, yaml), (text, type) => {
        outcome(type, text);
      }),
      { numRuns: 2000 },
    );
  });

  it('C-05 reads YAML of a thousand entries and of a megabyte of text', () => {
    const links = Array.from({ length: 1_000 }, (_, nth) => `client-${String(nth)}`);
    expect(outcome(yaml, stringify({ links }))).to.deep.equal({ value: { links } });
    const note = 'x '.repeat(500_000);
    expect(outcome(yaml, `note: "${note}"`)).to.deep.equal({ value: { note } });
    expect(outcome(yaml, `note: |-\n${'  line\n'.repeat(19_000)}`)).to.deep.equal({
      value: { note: 'line\n'.repeat(19_000).trimEnd() },
    });
  });

  it('agrees with the other YAML writers about plain data', () => {
    const value = { a: 'no', b: '0123', c: 'line\nline', d: ['', ' x ', '#', '- a', 'null', '~', '=', '1:2'], e: {} };
    expect(outcome(yaml, stringify(value, { version: '1.1' }))).to.deep.equal({ value });
  });
});

const unsafe = new Set(['__proto__', 'constructor', 'prototype']);

/** Doubles beyond 2^53 are written without an exponent up to 10^21: their digits are not exact. */
function loses(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(loses);
}
