import { expect } from 'chai';
import { parse } from 'yaml';
import { formatted } from '../../api/cli/output.ts';
import type { Column } from '../../api/schemas/columns.ts';

const columns: readonly Column[] = [{ heading: 'ID', text: ({ id }) => String(id) }];
/** Characters that act on a terminal, or reorder the text on it. */
const ACTING = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

describe('the output of boxctl as YAML', () => {
  const texts: Readonly<Record<string, string>> = {
    'a C1 control': 'Mozilla \u009b31m',
    'a bidi override': 'a \u202egnp.exe',
    'several lines': `first \u0085 line\nsecond \u2066 line\n${'long '.repeat(40)}\n`,
    'a line separator': 'a\u2028b',
    'DEL and an escape': '\u007f\u001b[31m',
    'a backslash before it': 'a\\\u009b',
  };
  for (const [what, text] of Object.entries(texts))
    it(`escapes ${what} in a value, a list and a name, and stays the same data`, async () => {
      const value = { user_agent: text, list: [text, { deep: text }], [text]: 1 };
      const output = await formatted(value, 'yaml', [], { isStyled: false });
      expect(output).not.to.match(ACTING);
      expect(parse(output)).to.deep.equal(value);
    });

  it('writes the character as \\u and four digits', async () => {
    expect(await formatted({ a: 'x\u009by' }, 'yaml', [], { isStyled: false })).to.equal('a: "x\\u009by"\n');
  });

  it('leaves other texts as they are', async () => {
    const value = { name: 'Zoë 日本', lines: 'a\nb\n' };
    expect(await formatted(value, 'yaml', [], { isStyled: false })).to.equal('name: Zoë 日本\nlines: |\n  a\n  b\n');
  });
});

describe('the output of boxctl as a table', () => {
  it('has as many rows as there are records, however many', async () => {
    const records = Array.from({ length: 200_000 }, (_, id) => ({ id }));
    const output = await formatted(records, 'table', columns, { isStyled: false });
    expect(output.split('\n')).to.have.length(200_002);
  });

  it('has columns as wide as their widest cell', async () => {
    const both: readonly Column[] = [...columns, { heading: 'NAME', text: ({ name }) => String(name) }];
    const records = [
      { id: 1, name: 'a' },
      { id: 1000, name: 'b' },
    ];
    expect(await formatted(records, 'table', both, { isStyled: false })).to.equal('ID     NAME\n1      a\n1000   b\n');
  });
});
