import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { isPage, longSentences } from './long-sentences.ts';
import { filesOfTheTree } from './tree.ts';

const words = (count: number): string => Array.from({ length: count }, (_, index) => `w${String(index)}`).join(' ');

/** Words that a guide may have, as `wc -w` counts them. */
const mostWordsOfGuide = 1500;

describe('the guides', () => {
  const guides = filesOfTheTree().filter((file) => /^docs\/guides\/[^/]+\.md$/.test(file));

  it('have at most 1,500 words: a longer one is split by task, and what is looked up belongs into the reference', () => {
    expect(guides).to.have.length.above(15);
    const count = (file: string): number => readFileSync(file, 'utf8').split(/\s+/).filter(Boolean).length;
    const long = guides.filter((file) => count(file) > mostWordsOfGuide);
    expect(long.map((file) => `${file}: ${String(count(file))}`)).to.deep.equal([]);
  });

  it('begin with something to run or to apply, at most below the first heading', () => {
    const begins = /^# .*\n\n(?:## .*\n\n)?(?:```| {4}\S)/;
    expect(guides.filter((file) => !begins.test(readFileSync(file, 'utf8')))).to.deep.equal([]);
  });
});

describe('the sentences of the pages', () => {
  it('have at most 35 words', () => {
    const pages = filesOfTheTree().filter(isPage);
    expect(pages).to.have.length.above(60);
    const found = pages.flatMap((page) => longSentences(page, readFileSync(page, 'utf8')));
    expect(found, `\n${found.join('\n')}\n`).to.have.length(0);
  });

  it('are counted in the pages of the root, of docs and of examples', () => {
    const files = [
      'README.md',
      'docs/a.md',
      'docs/maintainers/decisions/b.md',
      'examples/c/d.md',
      'CHANGELOG.md',
      'docs/a.ts',
    ];
    expect(files.filter(isPage)).to.deep.equal([
      'README.md',
      'docs/a.md',
      'docs/maintainers/decisions/b.md',
      'examples/c/d.md',
    ]);
  });

  const refused: Readonly<Record<string, [page: string, line: number, count: number]>> = {
    'in a paragraph of several lines': [`# Title\n\nA b.\n${words(20)}\n${words(16)}.\n`, 3, 36],
    'in a list item and its next line': [`- a b.\n- ${words(20)}\n  ${words(17)}\n`, 2, 37],
    'in a cell of a table': [`| a | b |\n|---|---|\n| x | ${words(36)} |\n`, 3, 36],
    'in a heading': [`## ${words(36)}\n`, 1, 36],
    'in a quotation': [`> ${words(36)}\n`, 1, 36],
    'with a code span and a link': [`${words(30)} \`x y\` [${words(5)}](page.md)\n`, 1, 36],
    'with an abbreviation in it': [`${words(30)} (e.g. ${words(6)})\n`, 1, 37],
    'after a line that only looks like code': [`- a\n\n    - ${words(36)}\n`, 3, 36],
  };
  for (const [where, [page, line, count]] of Object.entries(refused)) {
    it(`would be refused ${where}`, () => {
      const found = longSentences('x.md', page).map((one) => one.split(' words: ', 1).join());
      expect(found).to.deep.equal([`x.md:${String(line)}: ${String(count)}`]);
    });
  }

  const accepted = {
    'of 35 words': `${words(35)}.\n`,
    'of two sentences in a line': `${words(20)}. ${words(20)}\n`,
    'of two sentences, the second with a small letter': `${words(20)}. node ${words(20)}\n`,
    'of two list items': `- ${words(20)}\n- ${words(20)}\n`,
    'of two cells': `| ${words(20)} | ${words(20)} |\n`,
    'of a heading and its text': `## ${words(20)}\n${words(20)}\n`,
    'of a code span and test titles': `\`${words(30)}\` "${words(10)}" "${words(10)}", ${words(30)}\n`,
    'of a fenced block': `\`\`\`\n${words(40)}\n\`\`\`\n`,
    'of an indented block': `a\n\n    ${words(40)}\n`,
    'of a comment': `<!-- ${words(40)} -->\n`,
  };
  for (const [what, page] of Object.entries(accepted)) {
    it(`are accepted with the words ${what}`, () => {
      expect(longSentences('x.md', page)).to.deep.equal([]);
    });
  }
});
