import { expect } from 'chai';
import { isNewer } from '../../api/ui/record/loaded.ts';

const version = (etag: string | undefined) => ({ record: {}, etag, managedBy: undefined });

describe('a record that is read again in the UI', () => {
  for (const [etag, base, expected] of [
    ['"2"', '"1"', true],
    ['"1"', '"1"', false],
    ['W/"1"', '"1"', false],
    ['W/"2"', 'W/"1"', true],
    [undefined, undefined, false],
  ] as const) {
    it(`with the tag ${String(etag)} is ${expected ? 'newer than' : 'the one of'} a text from ${String(base)}`, () => {
      expect(isNewer(version(etag), version(base))).to.equal(expected);
    });
  }

  it('is not newer than the text of a record that did not exist', () => {
    expect(isNewer(version('"1"'), undefined)).to.equal(false);
  });
});
