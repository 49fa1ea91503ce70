import { expect } from 'chai';
import { dottedPath, isNested, memberPath } from '../../crds/path.ts';

describe('memberPath', () => {
  const cases: [parent: string, key: string, inArray: boolean, path: string][] = [
    ['', 'auth', false, 'auth'],
    ['auth', 'implicit', false, 'auth.implicit'],
    ['link', '2', true, 'link[2]'],
    ['details', '2', false, 'details["2"]'],
    ['details', 'group-ids', false, 'details.group-ids'],
    ['details', 'a.b', false, 'details["a.b"]'],
    ['details', '', false, 'details[""]'],
    ['', 'a b', false, '["a b"]'],
    ['details', 'a"\n', false, 'details["a\\"\\n"]'],
  ];
  for (const [parent, key, inArray, path] of cases) {
    it(`writes ${path}`, () => {
      expect(memberPath(parent, key, inArray)).to.equal(path);
    });
  }
});

describe('dottedPath', () => {
  it('reads a JSON pointer by what is there: an index of a list, a name of an object', () => {
    expect(dottedPath('/link/2/id', { link: [{}, {}, { id: 1 }] })).to.equal('link[2].id');
    expect(dottedPath('/link/2/id', { link: { 2: { id: 1 } } })).to.equal('link["2"].id');
    expect(dottedPath('/a~1b/c~0d', { 'a/b': { 'c~d': 1 } })).to.equal('["a/b"]["c~d"]');
    expect(dottedPath('', {})).to.equal('');
  });

  it('does not read what an object inherits', () => {
    expect(dottedPath('/constructor/name', {})).to.equal('constructor.name');
  });
});

describe('isNested', () => {
  const cases: [one: string, other: string, nested: boolean][] = [
    ['auth', 'auth', true],
    ['auth.implicit', 'auth', true],
    ['auth', 'auth.implicit', true],
    ['link[2].id', 'link', true],
    ['author', 'auth', false],
    ['auth.implicit', 'auth.client_credentials', false],
    ['link[1]', 'link[12]', false],
    ['anything', '', true],
  ];
  for (const [one, other, nested] of cases) {
    it(`${JSON.stringify(one)} and ${JSON.stringify(other)}: ${nested}`, () => {
      expect(isNested(one, other)).to.equal(nested);
    });
  }
});
