import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { refusalReasons } from '../api/refusal-reason.ts';

describe('the page of the reasons of refusals', () => {
  it('lists each reason with its meaning, and no other', () => {
    const page = readFileSync('docs/reference/refusals.md', 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name, meaning]) => [name, meaning]);
    expect(rows.slice(1)).to.deep.equal(Object.entries(refusalReasons));
  });
});
