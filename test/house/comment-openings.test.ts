import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { clauseOpenings, isCheckedSource } from './comment-openings.ts';
import { filesOfTheTree } from './tree.ts';

describe('the doc comments', () => {
  it('begin with a noun or a verb', () => {
    const files = filesOfTheTree().filter(isCheckedSource);
    const found = files.flatMap((file) => clauseOpenings(file, readFileSync(file, 'utf8')));
    expect(found, `\n${found.join('\n')}\n`).to.have.length(0);
  });

  it('are read in every folder of sources', () => {
    const folders = filesOfTheTree()
      .filter(isCheckedSource)
      .map((file) => file.split('/', 1).join());
    expect([...new Set(folders)]).to.deep.equal([
      'api',
      'crds',
      'dev',
      'operator',
      'process',
      'program',
      'test',
      'tools',
    ]);
  });

  for (const word of ['What', 'Whether', 'Who', 'Whose', 'How', 'Where', 'When', 'Which', 'That', 'Of', 'Why']) {
    it(`would be refused with ${word} as the first word`, () => {
      expect(clauseOpenings('x.ts', `/** ${word} a box keeps. */\n`)).to.deep.equal([`x.ts:1: ${word} a box keeps.`]);
    });
  }

  it('would be refused in several lines and with an indentation, by the line of the opening', () => {
    const text = 'interface X {\n  /**\n   * Whether a token that was issued before is valid.\n   */\n  y: 1;\n}\n';
    expect(clauseOpenings('x.ts', text)).to.deep.equal(['x.ts:2: Whether a token that was issued']);
  });

  const accepted = {
    'a noun as the first word': '/** Limit of the count. */',
    'a word that only begins alike': '/** Offset of the first row. */',
    'such a word at the beginning of a later line': '/**\n * Checks for each box\n * Whether it is there.\n */',
  };
  for (const [what, text] of Object.entries(accepted)) {
    it(`are accepted with ${what}`, () => {
      expect(clauseOpenings('x.ts', `${text}\n`)).to.deep.equal([]);
    });
  }

  it('are distinguished from line comments and path patterns', () => {
    const text = "// What follows is an example.\nconst files = 'api/**/What.ts';\n";
    expect(clauseOpenings('x.ts', text)).to.deep.equal([]);
  });
});
