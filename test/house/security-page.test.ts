import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { routes } from '../../api/app.ts';
import { boxSchema } from '../../crds/box.ts';
import { faultsOfRows } from './security-rows.ts';

describe('docs/reference/security.md', () => {
  const page = readFileSync('docs/reference/security.md', 'utf8');
  const read = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

  it('has for each claim a test, named by words of its title; where there is none, the page says so', () => {
    expect(faultsOfRows(page, read)).to.deep.equal([]);
  });

  const source =
    "// it('a comment')\nit('keeps a promise', () => {});\n/** it('another') */ it(`of ${one} sort`, () => {});";
  const table = (row: string): string => `text\n\n| what | how | test |\n|---|---|---|\n${row}\n`;
  const refused = {
    'a claim without a test': '| a | is kept | |',
    'a test without a title': '| a | is kept | `test/a.test.ts` |',
    'a test that is not there': '| a | is kept | `test/b.test.ts` "keeps" |',
    'a title that is not there': '| a | is kept | `test/a.test.ts` "breaks a promise" |',
    'a title that only a comment has': '| a | is kept | `test/a.test.ts` "a comment" |',
    'a title that only the comment of a function has': '| a | is kept | `test/a.test.ts` "another" |',
    'words that are no title': '| a | is kept | `test/a.test.ts` "keeps a promise" and more |',
  };
  for (const [what, row] of Object.entries(refused)) {
    it(`would be refused with ${what}`, () => {
      expect(faultsOfRows(table(row), (file) => (file === 'test/a.test.ts' ? source : undefined))).to.have.length(1);
    });
  }

  for (const row of [
    '| a | is kept | `test/a.test.ts` "keeps a promise" "sort", `test/a.test.ts` "keeps" |',
    '| a | there is none | |',
    '| a | not met: nobody keeps it | |',
  ]) {
    it(`is accepted with: ${row}`, () => {
      expect(faultsOfRows(table(row), () => source)).to.deep.equal([]);
    });
  }

  it('has a row for each switch of compatibility', () => {
    const [, rows = ''] = page.split('## Where the interface is laxer');
    const named = [...rows.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
    const switches = Object.keys(boxSchema.properties.compatibility.properties);
    expect(named.toSorted()).to.deep.equal(switches.filter((name) => name !== 'profile').toSorted());
  });

  const nouns: Readonly<Record<string, string>> = {
    Client: 'client',
    AccessPolicy: 'policy',
    users: 'user',
    Group: 'group',
    Session: 'session',
    Grant: 'grant',
  };

  it('R-50 has a row for each write right over REST', () => {
    const [, table = ''] = page.split('## What each write right really gives');
    const rights = [...table.matchAll(/^\| (.+?) \|/gm)].map(([, right = '']) => right);
    // Closing the session of one's own token takes no right, and neither does one's own account.
    const needsNone = (path: string): boolean => path === '/Session' || path.startsWith('/account/');
    const writes = routes.filter(
      ([method, path, shape]) => shape === 'resource' && method !== 'GET' && !needsNone(path),
    );
    expect(writes).to.have.length.greaterThan(15);
    const missing = writes.filter(([method, path]) => {
      const [, kind = '', rest = ''] = path.split('/');
      const noun = rest === '$explain' ? '$explain' : (nouns[kind] ?? path);
      const isAbout = (right: string) => right.includes(noun) || (rest !== '$explain' && right.includes(`/${kind}`));
      return !rights.some((right) => right.includes(method) && isAbout(right));
    });
    expect(missing.map(([method, path]) => `${method} ${path}`)).to.deep.equal([]);
  });

  it('R-50 has a test for each write right over REST, which begins with its row', () => {
    const [, rest = ''] = page.split('## What each write right really gives');
    const [table = ''] = rest.split('Write access to a namespace');
    const rights = [...table.matchAll(/^\| (.+?) \|/gm)].map(([, right = '']) => right.replaceAll('`', ''));
    const tests = readFileSync('test/http/resources/write-rights.test.ts', 'utf8');
    const titles = [...tests.matchAll(/it\('(?:R-50 )?([^':]+):/g)].map(([, title = '']) => title);
    expect(titles.toSorted()).to.deep.equal(rights.filter((right) => !/^(right|---)/.test(right)).toSorted());
  });
});
