import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { decisionParts, faultsOfNumbers, faultsOfPage, packagesInTables } from './decisions.ts';

const folder = 'docs/maintainers/decisions';
const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
const page = (title: string, parts: readonly string[]) =>
  [title, ...parts.map((part) => `## ${part}\nText.`)].join('\n\n');

describe('the decisions', () => {
  const names = readdirSync(folder).sort();

  it('are numbered without a gap or a duplicate', () => {
    expect(faultsOfNumbers(names)).to.deep.equal([]);
  });

  it('each have the four parts on one page', () => {
    expect(names.flatMap((name) => faultsOfPage(name, read(name)))).to.deep.equal([]);
  });

  it('have a line for every package of package.json, and for no other', () => {
    const declared = [...Object.keys(packageJson.dependencies), ...Object.keys(packageJson.devDependencies)];
    expect(packagesInTables(read('0003-take-a-dependency-only-with-a-reason.md'))).to.have.members(declared);
  });

  const numbers = {
    'a duplicate': ['0001-a.md', '0001-b.md'],
    'a gap': ['0001-a.md', '0003-b.md'],
    'a name without a number': ['0001-a.md', 'notes.md'],
  };
  for (const [what, list] of Object.entries(numbers)) {
    it(`would be refused with ${what}`, () => {
      expect(faultsOfNumbers(list)).to.have.length(1);
    });
  }

  const pages = {
    'another number in its title': page('# 2. X', decisionParts),
    'a part left out': page('# 1. X', decisionParts.slice(1)),
    'parts in another order': page('# 1. X', decisionParts.toReversed()),
    'more than a page': page('# 1. X', decisionParts) + '\n'.repeat(60),
  };
  for (const [what, text] of Object.entries(pages)) {
    it(`would be refused with ${what}`, () => {
      expect(faultsOfPage('0001-x.md', text)).to.have.length(1);
    });
  }
});
