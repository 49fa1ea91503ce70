import { expect } from 'chai';
import fc from 'fast-check';
import { originalTarget } from '../../../api/http/gateway/original-path.ts';

describe('the path of an original request', () => {
  const read: readonly (readonly [target: string, uri: string])[] = [
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/a/b/', '/a/b/'],
    ['/a?b=/../c', '/a'],
    ['/a///b//', '/a/b/'],
    ['/a/./b/../c', '/a/c'],
    ['/a/..', '/'],
    ['/a/b/.', '/a/b/'],
    ['/../../a', '/a'],
    ['/%61%2e%2E/b', '/a../b'],
    ['/a/%2e%2E/b', '/b'],
    ['/.hidden/...', '/.hidden/...'],
    ['/%C3%BC', '/ü'],
    ['/100%25', '/100%'],
    ['/a;b=1,c@d:e!$&()*+\'"|', '/a;b=1,c@d:e!$&()*+\'"|'],
  ];
  for (const [target, uri] of read) {
    it(`of ${target} is ${uri}`, () => {
      expect(originalTarget(target)?.uri).to.equal(uri);
    });
  }

  const refused = [
    ...['/a%2fb', '/a%2Fb', '/a%5cb', '/a\\b', '/a%00', '/a%0Ab', '/a%7f', '/a%252e', '/a%25%32%65'],
    ...['/a%3fb', '/a%23b', '/a#b', '/%', '/%zz', '/%ff', '/%C3', '/ü', '/a b', '/..;/a', '/a/.;x=1/b', '/%2e%2e;/a'],
    ...['/a//../b', '/a/b//c/..', '//..'],
    ...['//a/b', '///a', '/%2e//a/..', '//', '/a/;/b', '/a/;x=1/../b', '/a/%3b/../b', '/;x'],
  ];
  for (const target of refused) {
    it(`of ${target} is for no policy to see`, () => {
      expect(originalTarget(target)).to.equal(undefined);
    });
  }

  it('has no dot segment, double slash or escape, whatever was sent', () => {
    const piece = fc.constantFrom('/', '//', '.', '..', '%2e', '%2E', '%25', '%2f', 'a', 'B', ';', '%c3%bc', '?', '\\');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const found = originalTarget(`/${pieces.join('')}`);
        if (found === undefined) return;
        expect(found.uri).to.match(/^\//);
        expect(found.uri).not.to.match(/\/\/|\/\.\.?(\/|$)|%[0-9a-f]{2}|[\\?]/i);
      }),
      { numRuns: 5000 },
    );
  });

  it('gives the parameters of the query', () => {
    expect(originalTarget('/a?x=1&y=b%20c&y=d&z')?.params).to.deep.equal({ x: '1', y: ['b c', 'd'], z: '' });
    expect(originalTarget(`/a?${'x&'.repeat(1001)}`)).to.equal(undefined);
  });
});
