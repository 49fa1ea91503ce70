import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { readYaml } from '../../../api/http/formats/read-yaml.ts';
import { writeYaml } from '../../../api/http/formats/write-yaml.ts';

const difficult = fc.constantFrom(
  ...[
    '',
    ' ',
    '-',
    '---',
    '- a',
    '? a',
    ': a',
    'a:',
    'a: b',
    'a #b',
    '#a',
    'a ',
    ' a',
    '!a',
    '&a',
    '*a',
    '%a',
    '@a',
    '`a',
  ],
  ...[
    'y',
    'No',
    'TRUE',
    'off',
    'null',
    'Null',
    '~',
    '.inf',
    '.NaN',
    '<<',
    '=',
    '0',
    '0123',
    '0x1f',
    '1e3',
    '1:20',
    '1_000',
  ],
  ...[
    '2026-01-31',
    '2026-01-31T10:00:00Z',
    '"',
    "'",
    '\\d+',
    '^/a$',
    'a, b',
    '[a',
    '{a',
    '|',
    '>',
    'a\tb',
    '\ta',
    'é: ü',
  ],
  ...[
    'a\nb',
    'a\n',
    'a\n\n',
    '\na',
    ' a\nb',
    'a\n  b\n',
    'a\n---\nb',
    '\n',
    'a\r\nb',
    'a\u2028b',
    'a\u0085b',
    '\ufeffa',
    '\x7f',
  ],
);
const text = fc.oneof(
  difficult,
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constant('k'.repeat(2_000)),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    ...[text, fc.integer(), fc.boolean(), fc.constant(null), fc.double({ noNaN: true, noDefaultInfinity: true })],
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  ),
}));

describe('YAML that is written', () => {
  it('is what it was made of for readers of YAML 1.1 and 1.2', () => {
    fc.assert(
      fc.property(value, (written) => {
        const yaml = writeYaml(written);
        const json: unknown = JSON.parse(JSON.stringify(written));
        for (const version of ['1.1', '1.2'] as const)
          expect(parse(yaml, { version, strict: true })).to.deep.equal(json);
      }),
      { numRuns: 500 },
    );
  });

  it('is what it was made of when it is sent back', () => {
    const body = fc.array(fc.tuple(text, text)).map((members) => Object.fromEntries(members));
    fc.assert(fc.property(body, (written) => void expect(readYaml(writeYaml({ written }))).to.deep.equal({ written })));
  });

  it('is for people: blocks, and quotes only where they are needed', () => {
    const client = {
      id: 'shop',
      link: [{ id: 'a' }, []],
      none: undefined,
      uri: 'https://a.example/#b',
      text: 'a\nb\n',
      m: [[1, {}]],
    };
    expect(writeYaml(client)).to.equal(
      'id: shop\nlink:\n  - id: a\n  - []\nuri: https://a.example/#b\ntext: |\n  a\n  b\nm:\n  - - 1\n    - {}\n',
    );
  });
});
