import { expect } from 'chai';
import { readFileSync, statSync } from 'node:fs';
import { findBanned, findDrawers } from './never-committed.ts';
import { filesOfTheTree } from './tree.ts';

// Each line in two halves, so that this file does not hold what it shows.
const refused = [
  ['docs/x.md', 'see /wo', 'rk/notes'],
  ['api/x.ts', "open('/ho", "me/somebody/key')"],
  ['package-lock.json', '"resolved": "https://registry.', 'npmjs.org/x"'],
  ['api/x.ts', '// TO', 'DO later'],
  ['README.md', 'FIX', 'ME'],
  ['test/x.test.ts', 'it.on', "ly('x')"],
  ['test/x.test.ts', 'describe.sk', "ip ('x')"],
  ['test/x.test.ts', 'this.sk', 'ip()'],
  ['test/x.test.ts', 'xi', "t('x')"],
  ['api/x.ts', '// @ts-ig', 'nore'],
] as const;

const accepted = [
  ['docs/x.md', 'the base URL is https://example.org/home/x and ./work/ is fine'],
  ['api/x.ts', 'iterator.skip(1); homework(/worker/)'],
  ['api/x.ts', "route('/boxes/root/x')"],
  ['docs/x.webp', 'X\u0058X'],
] as const;

describe('the tree', () => {
  const files = filesOfTheTree().filter((file) => statSync(file).isFile());

  it('holds no machine path, registry host, unfinished work, skipped test or silenced type error', () => {
    const found = files.flatMap((file) => findBanned(file, readFileSync(file, 'utf8')));
    expect(found).to.deep.equal([]);
  });

  it('has no file named after a drawer', () => {
    expect(findDrawers(files)).to.deep.equal([]);
  });

  for (const [file, start, end] of refused) {
    it(`would be refused with ${start}… in ${file}`, () => {
      expect(findBanned(file, `first line\n${start}${end}`)).to.have.length(1);
      expect(findBanned(file, `first line\n${start}${end}`)[0]).to.match(new RegExp(`^${file}:2: `));
    });
  }

  for (const [file, line] of accepted) {
    it(`is accepted with: ${line}`, () => {
      expect(findBanned(file, line)).to.deep.equal([]);
    });
  }

  it('would be refused with a drawer in it', () => {
    const drawers = [
      'api/utils.ts',
      'api/http/helpers/x.ts',
      'api/session-manager.ts',
      'crds/common.ts',
      'api/x.types.ts',
    ];
    expect(findDrawers([...drawers, 'api/db/baseline.ts', 'crds/library.ts'])).to.deep.equal(drawers);
  });
});
