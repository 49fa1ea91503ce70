import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { hasPlainWords, unusualWords } from './plain-words.ts';
import { filesOfTheTree } from './tree.ts';

describe('the pages, the messages and the comments', () => {
  it('use standard words', () => {
    const files = filesOfTheTree().filter(hasPlainWords);
    // The file of the check itself lists the words.
    const others = files.filter((file) => !file.startsWith('test/house/plain-words.'));
    const found = others.flatMap((file) => unusualWords(file, readFileSync(file, 'utf8')));
    expect(others).to.have.length.above(1_000);
    expect(found, `\n${found.join('\n')}\n`).to.have.length(0);
  });

  it('are read in pages, examples, mutants, the product and its tests', () => {
    const files = [
      ...[
        'README.md',
        'docs/a.md',
        'docs/maintainers/decisions/b.md',
        'examples/c/d.yaml',
        'test/mutants/e.yaml',
        'api/f.ts',
      ],
      ...['crds/g.yaml', 'dev/h.cjs', 'test/i.test.ts', 'tools/j.ts', 'api/db/schema.sql', 'CHANGELOG.md'],
    ];
    expect(files.filter(hasPlainWords)).to.deep.equal(files.slice(0, 11));
  });

  const refused = {
    anew: 'It is read anew.',
    'for ever': 'It waits for ever.',
    'made again': 'An object that is made again.',
    'stands in': 'It stands in the table.',
    'says no': 'A policy says no.',
    'takes away': 'A tenant takes away a right.',
    else: 'Send it, or wait else.',
  };
  for (const [phrase, sentence] of Object.entries(refused)) {
    it(`would be refused with "${phrase}" in a page, a comment and a message`, () => {
      const found = (file: string, text: string): string[] =>
        unusualWords(file, text).map((one) => one.split(' (', 1).join());
      expect(found('docs/x.md', `A b.\n${sentence}\n`)).to.deep.equal([`docs/x.md:2: ${phrase}`]);
      expect(found('test/x.ts', `/** ${sentence} */\n`)).to.deep.equal([`test/x.ts:1: ${phrase}`]);
      expect(found('test/x.ts', `x();\ny(); // ${sentence}\n`)).to.deep.equal([`test/x.ts:2: ${phrase}`]);
      expect(found('api/x.ts', `const x = '${sentence}';\n`)).to.deep.equal([`api/x.ts:1: ${phrase}`]);
    });
  }

  it('would be refused with a doc comment that begins with a clause', () => {
    expect(unusualWords('test/x.ts', '/** What it is. */\n')).to.have.length(1);
    expect(unusualWords('test/x.ts', '/**\n * Whether it is.\n */\n')).to.have.length(1);
    expect(unusualWords('test/x.ts', '/** Waits. */\n// What for is in its name.\n')).to.deep.equal([]);
  });

  it('would be refused with a phrase over two lines', () => {
    expect(unusualWords('docs/x.md', 'It waits for\never.\n')).to.deep.equal(['docs/x.md:1: for ever (forever)']);
    expect(unusualWords('test/x.ts', '/**\n * One made\n * again.\n */\n')).to.have.length(1);
  });

  const accepted = {
    'an else of a pronoun': '/** Returns nothing else. */\n// somebody\n// else.\n',
    'an else within a sentence': '/** Waits, else it fails. */\n',
    'such a word in the code of a test': "const anew = 'https://x.example/ anew'; // again\n",
    'a word that contains one': '/** A renewal forever. */\n',
  };
  for (const [what, text] of Object.entries(accepted)) {
    it(`are accepted with ${what}`, () => {
      expect(unusualWords('test/x.ts', text)).to.deep.equal([]);
    });
  }
});
