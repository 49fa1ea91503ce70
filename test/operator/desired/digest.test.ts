import { expect } from 'chai';
import { createSecretKey } from 'node:crypto';
import { Secret } from '../../../api/client/secret.ts';
import { digestOf, fingerprint } from '../../../operator/desired/declared.ts';

const key = createSecretKey(Buffer.alloc(32, 1));

describe('fingerprint', () => {
  const same: [title: string, one: unknown, other: unknown][] = [
    ['the order of members', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ['a member that is not given', { a: 1, b: undefined }, { a: 1, b: undefined }],
  ];
  for (const [title, one, other] of same) {
    it(`does not depend on ${title}`, () => {
      expect(fingerprint(one)).to.equal(fingerprint(other));
    });
  }

  const different: [title: string, one: unknown, other: unknown][] = [
    ['a number and its text', { a: 1 }, { a: '1' }],
    ['the order of a list', { a: [1, 2] }, { a: [2, 1] }],
    ['an object and a list of its pairs', { a: { b: 1 } }, { a: [['b', 1]] }],
    ['an object and the list it is marked as', { a: {} }, { a: ['{'] }],
    ['null and nothing', { a: null }, {}],
    ['a member called __proto__', JSON.parse('{"__proto__":1}'), {}],
  ];
  for (const [title, one, other] of different) {
    it(`tells apart ${title}`, () => {
      expect(fingerprint(one)).to.not.equal(fingerprint(other));
    });
  }
});

describe('digestOf', () => {
  const secret = (text: string) => ({ value: new Secret(text) });
  const previous = { value: new Secret('two'), until: 1 };
  const parts = [
    ...[secret('one'), secret('two'), secret('none'), secret('kept')],
    ...[
      { ...secret('one'), previous },
      { ...secret('one'), previous: { ...previous, until: 2 } },
    ],
    ...(['none', 'kept'] as const),
  ];

  it('differs for every secret, for one that is valid beside it and until when, for none, and for the one that is kept', () => {
    expect(new Set(parts.map((part) => digestOf(key, 'content', part)))).to.have.property('size', parts.length);
  });

  it('depends on the key, so that nobody can try out secrets without it', () => {
    const other = createSecretKey(Buffer.alloc(32, 2));
    expect(digestOf(key, 'content', 'none')).to.not.equal(digestOf(other, 'content', 'none'));
  });

  it('is 128 bits in hexadecimal digits', () => {
    expect(digestOf(key, 'content', secret('one'))).to.match(/^[0-9a-f]{32}$/);
  });
});
