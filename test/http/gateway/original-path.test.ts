import { expect } from 'chai';
import fc from 'fast-check';
import { originalTarget } from '../../../api/http/gateway/original-path.ts';

describe('the target of an original request', () => {
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

  const parameters: readonly (readonly [query: string, params: object])[] = [
    ['', {}],
    ['x=1&y=b%20c&y=d&z', { x: '1', y: ['b c', 'd'], z: '' }],
    ['x=a+b%2Bc', { x: 'a b+c' }],
    ['x=a%3Bb%23c%26d', { x: 'a;b#c&d' }],
    ['x=%C3%BC&next=/b?c=d', { x: 'ü', next: '/b?c=d' }],
    ['x=%0d%0a&&y=%25zz', { x: '\r\n', y: '%zz' }],
    ['filter[a]=1&filter[b]=2&ids[]=3&ids[]=4', { 'filter[a]': '1', 'filter[b]': '2', 'ids[]': ['3', '4'] }],
    ['a-b=1&a_b=2', { 'a-b': '1', a_b: '2' }],
    [
      'items[][name]=a&items[][size]=2&a[b][c]=3&a[b][d]=4',
      {
        ...{ 'items[][name]': 'a', 'items[][size]': '2' },
        ...{ 'a[b][c]': '3', 'a[b][d]': '4' },
      },
    ],
    [`${'x&'.repeat(999)}x`, { x: Array.from({ length: 1000 }, () => '') }],
  ];
  for (const [query, params] of parameters) {
    it(`with the query ${query.slice(0, 50)} has its parameters`, () => {
      expect(originalTarget(`/a?${query}`)).to.deep.equal({ uri: '/a', params });
    });
  }

  const ambiguous: Readonly<Record<string, readonly string[]>> = {
    'ends at # for nginx': ['b=1#&c=2', '#', 'b#'],
    'is UTF-8 for some and Latin-1 for others': ['b=ü', 'b=%ff', 'b=%C3', '%e4=1'],
    'has characters that no URL has': ['b=1 2', 'b=1\t2', 'b=1\u007f', 'b=1\u0000'],
    'is cut at ; by some': ['b=1;c=2', ';b'],
    'begins with a second question mark, which some remove': ['?b=1', '??', '?'],
    'has an escape that is none': ['b=%', 'b=%zz', '%u0062=1', 'b=100%'],
    'ends at %00 for some': ['b=1%00', 'b%00c=1&b=2'],
    'has more parts than all read': [`${'&'.repeat(1000)}b=1`, 'x&'.repeat(1001)],
    'has names that differ in case': ['b=1&B=2', 'Sort[a]=1&sort[b]=2'],
    'has a value and a list or an object of one name': [
      'b=1&b[]=2',
      'b[x]=1&b=2',
      'b=1&B[0]=2',
      'b=1&%5Bx]=2&b%5B%5d=3',
    ],
    'has names that are one for PHP': ['b.c=1&b_c=2', 'b+c=1&b_c=2', '+b=1&b=2', 'b[c=1&b_c=2', 'b[x]=1&b[+x]=2'],
    // E-08: brackets in another form than name[a][b], and names that are a part of another one's path.
    'has brackets that are read in more than one way': [
      ...['b]=1', '[b]=1', '[]b=1', '[b=1', 'b[=1', 'b[c=1', 'b[c]d=1', 'b[[c]]=1', 'b[c][d=1', '=1', 'b%5bc=1'],
      ...['b=1&b]=2', 'b=1&[b]=2', 'b=1&[]b=2', 'b=1&[b=2', 'b=1&b[=2', 'b[c]=1&b[c]x=2'],
    ],
    'has a name that is a part of the path of another one': [
      ...['b[c]=1&b[c][]=2', 'b[c][]=1&b[c]=2', 'b[c]=1&b[c][d]=2', 'b[c][d][e]=1&b[c]=2', 'b[C]=1&b[c][d]=2'],
      ...['b[]=1&b[0]=2', 'b[0]=1&b[]=2', 'b[c][]=1&b[c][d]=2', 'b[x]=1&b[X]=2', 'B[x]=1&b[y]=2', 'b.c[x]=1&b_c[y]=2'],
    ],
  };
  for (const [why, queries] of Object.entries(ambiguous)) {
    it(`is for no policy to see if its query ${why}`, () => {
      for (const query of queries) expect(originalTarget(`/a?${query}`), query).to.equal(undefined);
    });
  }
});

describe('the names of a query', () => {
  // E-08: what a policy compares under one name, an app reads under no other.
  it('have one reading only, whatever brackets they have', () => {
    const piece = fc.constantFrom('a', 'b', 'A', '[', ']', '[]', '[b]', '[a]', '&', '=1', '+', '.', '_');
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 10 }), (pieces) => {
        const found = originalTarget(`/a?${pieces.join('')}`);
        const paths = Object.keys(found?.params ?? {}).map((name) => name.toLowerCase().replace(/]/g, '').split('['));
        for (const [index, path] of paths.entries()) {
          for (const other of paths.slice(index + 1)) {
            const shared = Math.min(path.length, other.length);
            expect(path.slice(0, shared), pieces.join('')).not.to.deep.equal(other.slice(0, shared));
          }
        }
      }),
      { numRuns: 5000 },
    );
  });
});
