import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readMutants } from './mutant-patches.ts';
import { replacedFunctions } from './replaced-functions.ts';

describe('functions that a later migration makes anew', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-migrations-'));
    const first = ['one', 'two'].map((name) => `CREATE FUNCTION boxgate.${name}()\nAS $$\n  SELECT '${name}'\n$$;\n`);
    writeFileSync(path.join(folder, '0001.sql'), first.join(''));
    writeFileSync(path.join(folder, '0002.sql'), 'CREATE OR REPLACE FUNCTION boxgate.two()\nAS $$\n  SELECT 2\n$$;\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const change = (file: string, from: string) => {
    const name = path.join(folder, file);
    return `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -3,2 +3,2 @@\n-${from}\n+  SELECT 'x'\n $$;\n`;
  };

  it('are told of a diff that changes their old text', () => {
    expect(replacedFunctions(change('0001.sql', `  SELECT 'two'`), folder)).to.deep.equal(['boxgate.two in 0001.sql']);
  });

  it('are not those that it changes where they were made last, nor those that nobody made again', () => {
    expect(replacedFunctions(change('0001.sql', `  SELECT 'one'`), folder)).to.deep.equal([]);
    expect(replacedFunctions(change('0002.sql', '  SELECT 2'), folder)).to.deep.equal([]);
  });

  it('are broken by no patch of make mutants', () => {
    const idle = readMutants('test/mutants').flatMap(({ name, file }) =>
      replacedFunctions(readFileSync(file, 'utf8'), 'api/db/migrations').map((what) => `${name}: ${what}`),
    );
    expect(idle).to.deep.equal([]);
  });
});
