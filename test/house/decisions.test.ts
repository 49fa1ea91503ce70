import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };

describe('the decision about dependencies', () => {
  it('has a line for every package of package.json, and for no other', () => {
    const page = readFileSync('docs/maintainers/decisions/0003-take-a-dependency-only-with-a-reason.md', 'utf8');
    const cells = [...page.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
    const listed = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    const declared = [...Object.keys(packageJson.dependencies), ...Object.keys(packageJson.devDependencies)];
    expect(listed).to.have.members(declared);
  });
});
