import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { compareTable, filesInLastTable } from './architecture.ts';
import { filesOfTheTree } from './tree.ts';

describe('the architecture page', () => {
  const page = readFileSync('docs/maintainers/architecture.md', 'utf8');

  it('ends with a table that names every folder of the product, and none that is not there', () => {
    expect(filesInLastTable(page)).to.have.length.greaterThan(20);
    expect(compareTable(filesInLastTable(page), filesOfTheTree())).to.deep.equal([]);
  });

  const named = ['api/', 'api/db/'];
  const rows = {
    'a folder that nobody names': [['api/app.ts', 'api/db/x.sql', 'api/new/x.ts'], 'not named: api/new/x.ts'],
    'a folder without a file': [['api/app.ts'], 'named, but not there: api/db/'],
  } as const;
  for (const [what, [files, fault]] of Object.entries(rows)) {
    it(`would be refused with ${what}`, () => {
      expect(compareTable(named, files)).to.deep.equal([fault]);
    });
  }

  it('would be refused with a file named twice', () => {
    expect(compareTable(['api/app.ts', 'api/app.ts'], ['api/app.ts'])).to.deep.equal(['named twice: api/app.ts']);
  });

  it('is read from its last table only', () => {
    const text = '| a | `api/old.ts` |\n\ntext\n\n| b | `api/x.ts`, `api/y/` |\n| c | `not a path` |\n';
    expect(filesInLastTable(text)).to.deep.equal(['api/x.ts', 'api/y/']);
  });
});
