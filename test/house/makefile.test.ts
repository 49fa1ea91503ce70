import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

describe('make dev', () => {
  const printed = (env: Readonly<Record<string, string>>, ...args: readonly string[]): string =>
    execFileSync('make', ['--dry-run', 'dev', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...env },
    });

  it('takes another port, from the environment and as an argument', () => {
    // E-26: another program may have the port 8080.
    const options = 'dev examples/standalone --port 9000';
    expect(printed({ PORT: '9000' })).to.contain(options);
    expect(printed({}, 'PORT=9000')).to.contain(options);
    expect(printed({})).not.to.contain('--port');
  });
});

describe('the workflow `weekly`', () => {
  it('runs every target of `make test-long`', () => {
    const [, targets = ''] = /^test-long: ([\w -]+?) ##/m.exec(readFileSync('Makefile', 'utf8')) ?? [];
    const [, matrix = ''] = /^ +target: \[(.*)\]$/m.exec(readFileSync('.github/workflows/weekly.yml', 'utf8')) ?? [];
    expect(targets.split(' ')).to.include('two-databases').and.deep.equal(matrix.split(', '));
  });
});

describe('the test files that commands and pages name', () => {
  const pages = globSync('docs/maintainers/*.md').filter((page) => readFileSync(page, 'utf8').includes('.test.ts'));
  for (const file of ['Makefile', 'package.json', '.ci/run', ...pages]) {
    it(`exist: those of ${file}`, () => {
      const paths = readFileSync(file, 'utf8').match(/\btest\/[\w./*{},-]*\.test\.ts\b/g) ?? [];
      expect(paths).not.to.deep.equal([]);
      expect(paths.filter((path) => globSync(path).length === 0)).to.deep.equal([]);
    });
  }
});
