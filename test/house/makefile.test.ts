import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';

describe('the test files that commands name', () => {
  for (const file of ['Makefile', 'package.json', '.ci/run']) {
    it(`exist: those of ${file}`, () => {
      const paths = readFileSync(file, 'utf8').match(/\btest\/[\w./*{},-]*\.test\.ts\b/g) ?? [];
      expect(paths).not.to.deep.equal([]);
      expect(paths.filter((path) => globSync(path).length === 0)).to.deep.equal([]);
    });
  }
});
