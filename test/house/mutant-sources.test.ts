import { expect } from 'chai';
import { changedFiles, readSources } from './mutant-sources.ts';
import { filesOfTheTree } from './tree.ts';
import type { Source } from './mutant-sources.ts';

const source = (file: string, text: string, ...retired: number[]): Source => ({
  file,
  lines: text.split('\n'),
  retired: new Set(retired),
});
const sources = [
  source('a.ts', 'function a() {\n  if (b) {\n    c();\n\n    d();\n  }\n  e();\n}\n'),
  source('b.ts', 'd();\ng();\ne();\n'),
];
const changed = (find: string, replace: string) => Object.fromEntries(changedFiles(sources, [{ find, replace }]));

describe('the changes of a mutant', () => {
  it('replace lines at the indentation that they have in the code', () => {
    expect(changed('if (b) {\n  c();\n', 'if (!b) {\n  c(1);\n  c(2);\n')).to.deep.equal({
      'a.ts': 'function a() {\n  if (!b) {\n    c(1);\n    c(2);\n\n    d();\n  }\n  e();\n}\n',
    });
  });

  it('remove lines when the replacement is empty', () => {
    expect(changed('g();\n', '')).to.deep.equal({ 'b.ts': 'd();\ne();\n' });
  });

  it('match empty lines at any indentation', () => {
    expect(changed('c();\n\nd();\n', 'd();\n\nc();\n')).to.deep.equal({
      'a.ts': 'function a() {\n  if (b) {\n    d();\n\n    c();\n  }\n  e();\n}\n',
    });
  });

  it('may be several, in one file and in others', () => {
    const changes = [
      { find: 'c();', replace: 'x();' },
      { find: '}\ne();', replace: '}\ny();' },
      { find: 'g();', replace: 'z();' },
    ];
    expect(Object.fromEntries(changedFiles(sources, changes))).to.deep.equal({
      'a.ts': 'function a() {\n  if (b) {\n    x();\n\n    d();\n  }\n  y();\n}\n',
      'b.ts': 'd();\nz();\ne();\n',
    });
  });

  const refused = {
    'text that does not occur': ['f();', 'this text does not occur in the code:\nf();'],
    'a part of a line': ['();', 'does not occur'],
    'lines at another indentation to each other': ['if (b) {\nc();', 'does not occur'],
    'text that occurs twice': ['d();', 'a.ts:5 and b.ts:1 have the same text:\nd();'],
    'no text': ['', 'does not occur'],
  } as const;
  for (const [what, [find, message]] of Object.entries(refused)) {
    it(`refuse ${what}`, () => {
      expect(() => changed(find, 'x();')).to.throw(message);
    });
  }

  it('refuse a replacement that is the text itself', () => {
    expect(() => changed('g();', 'g();')).to.throw('must change something');
  });

  it('refuse to overlap', () => {
    const changes = [
      { find: 'd();\ng();', replace: 'x();' },
      { find: 'g();\ne();', replace: 'y();' },
    ];
    expect(() => changedFiles(sources, changes)).to.throw('overlap');
  });

  it('do not see retired lines', () => {
    const [a, b] = [source('1.sql', 'x\ny\n', 0), source('2.sql', 'x\ny\n')];
    const change = { find: 'x\n', replace: 'z\n' };
    expect(Object.fromEntries(changedFiles([a, b], [change]))).to.deep.equal({ '2.sql': 'z\ny\n' });
  });
});

describe('the code that mutants change', () => {
  it('is the code of the product without any test', () => {
    const found = readSources(filesOfTheTree()).map(({ file }) => file);
    expect(new Set(found.map((file) => file.split('.').at(-1)))).to.deep.equal(new Set(['ts', 'tsx', 'cjs', 'sql']));
    expect(found.filter((file) => file.startsWith('test/') || file.endsWith('.test.ts'))).to.deep.equal([]);
  });
});
