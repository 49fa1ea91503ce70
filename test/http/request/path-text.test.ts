import { expect } from 'chai';
import { isTextPath, normalPath } from '../../../api/http/request/box-address.ts';

describe('a path that is text', () => {
  const rows: Readonly<Record<string, boolean>> = {
    '/': true,
    '/Client/a.b-c_d~e': true,
    '/AccessPolicy/$explain': true,
    '/Client/a%20b': true,
    '/Client/%E2%80%AE': true,
    '/Client/a?b=%ff': true,
    '/Client/%': false,
    '/Client/%f': false,
    '/Client/%zz': false,
    '/Client/%ff': false,
    '/Client/%c0%af': false,
    '/Client/%ed%a0%80': false,
    '/Client/%00': false,
    '/Client/%0a': false,
    '/Client/%7f': false,
    '/Client/%c2%85': false,
    '/Client/é': false,
    '/Client/\xff': false,
    '/Client/a b': false,
  };
  for (const [path, is] of Object.entries(rows)) {
    it(`${JSON.stringify(path)}: ${is ? 'yes' : 'no'}`, () => {
      expect(isTextPath(path)).to.equal(is);
    });
  }
});

describe('the normal form of a path', () => {
  const rows: Readonly<Record<string, string>> = {
    '/Client/x': '/Client/x',
    '/Client/x?a=%41': '/Client/x',
    '/Client/x#y': '/Client/x',
    '/Client/%78': '/Client/x',
    '/Client/%7E%2e%2D%5f%30': '/Client/~.-_0',
    '/Client/a%2fb': '/Client/a%2Fb',
    '/Client/%e2%80%ae': '/Client/%E2%80%AE',
    '/Client/%2541': '/Client/%2541',
    '/Client/%25%34%31': '/Client/%2541',
    '/Client/%zz%': '/Client/%zz%',
  };
  for (const [path, normal] of Object.entries(rows)) {
    it(`${path}: ${normal}`, () => {
      expect(normalPath(path)).to.equal(normal);
    });
  }
});
