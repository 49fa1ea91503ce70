import { expect } from 'chai';
import { Problem } from '../../api/problem.ts';
import { demandPreconditions, entityTag, isKnown, readPreconditions } from '../../api/records/write/conditions.ts';

describe('the conditions of a request', () => {
  const cases: readonly (readonly [
    ifMatch: string | undefined,
    ifNoneMatch: string | undefined,
    version: number | undefined,
    passes: boolean,
  ])[] = [
    [undefined, undefined, 17, true],
    [undefined, undefined, undefined, true],
    ['"17"', undefined, 17, true],
    ['W/"17"', undefined, 17, true],
    ['"16", "17"', undefined, 17, true],
    ['*', undefined, 17, true],
    ['"16"', undefined, 17, false],
    ['"1"', undefined, 17, false],
    ['"17"', undefined, undefined, false],
    ['*', undefined, undefined, false],
    [undefined, '*', undefined, true],
    [undefined, '*', 17, false],
    [undefined, '"17"', 17, false],
    [undefined, '"16"', 17, true],
    ['"17"', '"17"', 17, false],
    // E-33: an empty element of a list is no tag (RFC 9110 section 5.6.1.2).
    ['"17",', undefined, 17, true],
    ['', undefined, 17, false],
    [undefined, '', 17, true],
  ];
  for (const [ifMatch, ifNoneMatch, version, passes] of cases) {
    it(`If-Match ${String(ifMatch)}, If-None-Match ${String(ifNoneMatch)} ${passes ? 'let' : 'do not let'} version ${String(version)} pass`, () => {
      const check = (): void => demandPreconditions(readPreconditions({ ifMatch, ifNoneMatch }), version);
      if (passes) expect(check).to.not.throw();
      else expect(check).to.throw(Problem).with.property('code', 'precondition-failed');
    });
  }

  for (const header of ['17', '"17', '17"', '"a" "b"', '*, "1"', "'17'"]) {
    it(`refuses ${JSON.stringify(header)}`, () => {
      expect(() => readPreconditions({ ifMatch: header, ifNoneMatch: undefined }))
        .to.throw(Problem, 'If-Match must be')
        .with.property('code', 'bad-request');
    });
  }

  it('answers 304 only to who has the version', () => {
    const known = (ifNoneMatch: string | undefined) =>
      isKnown(readPreconditions({ ifMatch: undefined, ifNoneMatch }), 17);
    expect(['"17"', '*', '"16"', undefined].map(known)).to.deep.equal([true, true, false, false]);
  });

  it('writes an entity tag with its quotes', () => {
    expect([entityTag(17), entityTag('active')]).to.deep.equal(['"17"', '"active"']);
  });
});
