import { expect } from 'chai';
import fc from 'fast-check';
import { isEqual, ownMember } from '../../api/policy/json-value.ts';
import { Steps, TooManySteps } from '../../api/policy/steps.ts';

describe('JSON values', () => {
  const rows: [unknown, unknown, boolean][] = [
    [1, 1, true],
    [1, '1', false],
    [null, undefined, false],
    [null, {}, false],
    [[], {}, false],
    [{}, [], false],
    [[1, 2], [1, 2], true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: undefined }, { b: undefined }, false],
    [{ a: [{ b: null }] }, { a: [{ b: null }] }, true],
    [{ toString: 1 }, {}, false],
  ];
  for (const [one, other, equal] of rows) {
    it(`${JSON.stringify(one)} ${equal ? 'equals' : 'differs from'} ${JSON.stringify(other)}`, () => {
      expect(isEqual(one, other, new Steps())).to.equal(equal);
      expect(isEqual(other, one, new Steps())).to.equal(equal);
    });
  }

  it('every value equals its own copy, and takes a step for each part of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(isEqual(value, JSON.parse(JSON.stringify(value)), new Steps())).to.be.true;
      }),
    );
    const long = Array.from({ length: 100 }, (_, at) => at);
    expect(() => isEqual(long, [...long], new Steps(100))).to.throw(TooManySteps);
  });

  it('finds own members only', () => {
    const hostile: unknown = JSON.parse('{"__proto__":{"admin":true},"a":1}');
    expect(ownMember(hostile, 'a')).to.equal(1);
    expect(ownMember(hostile, '__proto__')).to.deep.equal({ admin: true });
    for (const name of ['admin', 'toString', 'constructor', 'hasOwnProperty']) {
      expect(ownMember(hostile, name), name).to.equal(undefined);
    }
    for (const value of [null, undefined, 'text', 5, ['x']]) expect(ownMember(value, 'length')).to.equal(undefined);
  });
});
