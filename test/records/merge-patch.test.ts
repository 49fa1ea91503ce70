import { expect } from 'chai';
import { mergePatch } from '../../api/records/patch.ts';

describe('mergePatch', () => {
  // RFC 7396, appendix A.
  const cases: readonly (readonly [unknown, unknown, unknown])[] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of cases) {
    it(`merges ${JSON.stringify(patch)} into ${JSON.stringify(target)}`, () => {
      expect(mergePatch(target, patch)).to.deep.equal(result);
    });
  }

  it('leaves the target and the prototypes as they are (X-07)', () => {
    const target = { a: { b: 1 } };
    const patch: unknown = JSON.parse('{"a":{"c":2},"__proto__":{"polluted":1},"toString":{"call":1}}');
    const result = mergePatch(target, patch);
    expect(target).to.deep.equal({ a: { b: 1 } });
    expect(Object.keys(result ?? {})).to.deep.equal(['a', '__proto__', 'toString']);
    expect(Object.getOwnPropertyNames(Object.prototype)).to.not.include('polluted');
    expect(typeof Object.prototype.toString.call).to.equal('function');
  });
});
