import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { boxSchema } from '../../crds/box.ts';

describe('docs/security.md', () => {
  const page = readFileSync('docs/security.md', 'utf8');

  it('names tests that are there', () => {
    const named = [...page.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
    expect(named).not.to.be.empty;
    expect(named.filter((file) => !existsSync(file))).to.deep.equal([]);
  });

  it('has a row for each switch of compatibility', () => {
    const [, rows = ''] = page.split('## Where the interface is laxer');
    const named = [...rows.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
    const switches = Object.keys(boxSchema.properties.compatibility.properties);
    expect(named.toSorted()).to.deep.equal(switches.filter((name) => name !== 'profile').toSorted());
  });
});
