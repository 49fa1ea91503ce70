import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { anchorsOf, deadLinks, linksOf } from './links.ts';
import { filesOfTheTree } from './tree.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

describe('the links of the pages', () => {
  const pages = filesOfTheTree().filter((file) => file.endsWith('.md'));

  it('lead to files and headings that are there', () => {
    expect(pages).to.have.length.above(50);
    expect(pages.flatMap((page) => linksOf(read(page)))).to.have.length.above(100);
    expect(pages.flatMap((page) => deadLinks(page, read(page), read))).to.deep.equal([]);
  });

  it('are refused where the file or the heading is not there', () => {
    const page =
      '# A `b` page\n[a](#a-b-page) [b](#b) [c](docs/none.md) [d](docs/reference/oauth.md#none) [e](https://x.example/#y)\n';
    expect(deadLinks('README.md', page, read)).to.deep.equal([
      'README.md: #b',
      'README.md: docs/none.md',
      'README.md: docs/reference/oauth.md#none',
    ]);
  });

  it('are told from code, and headings by their words', () => {
    expect(linksOf('```\n[x](nowhere.md)\n```\n')).to.deep.equal([]);
    expect([...anchorsOf('## Deletion, and what a list lacks\n```\n# no heading\n```\n')]).to.deep.equal([
      'deletion-and-what-a-list-lacks',
    ]);
  });
});
