import { expect } from 'chai';
import { faultSentence, joinedSentences } from '../../crds/fault.ts';
import { objectRules, specRules, checkManifest } from '../../crds/manifest.ts';
import { table } from './objects/table.ts';

/** A message follows the name of its field: it is a predicate, such as "must be given". */
const predicate = /^(?:must|is|are|has|does|cannot|needs) [^.]/;

describe('messages of the schema validator', () => {
  const rules = [specRules, objectRules].flatMap((byKind) =>
    [byKind.Client, byKind.AccessPolicy, byKind.Box].flatMap((list) =>
      list.map(({ id, path, message }: { id: string; path: string; message: string }) => ({ id, path, message })),
    ),
  );
  for (const { id, path, message } of rules) {
    it(`R-48 reads as a sentence: ${path} ${message} (${id})`, () => {
      expect(message).to.match(predicate);
      expect(message, 'no full stop, so that it can be part of a list').not.to.match(/\.$/);
      expect(faultSentence({ path, message })).to.equal(`${path} ${message}`);
    });
  }

  it('R-48 reads as a sentence for every faulty object of the tests', () => {
    const faults = table.flatMap((row) => {
      const checked = checkManifest(row.object);
      return checked.ok ? [] : checked.faults;
    });
    expect(faults.length).to.be.above(200);
    for (const fault of faults) expect(fault.message, faultSentence(fault)).to.match(predicate);
  });

  it('are joined by a semicolon, and by a blank after a question', () => {
    expect(joinedSentences(['a', 'b?', 'c', 'd'])).to.equal('a; b? c; d');
    expect([joinedSentences([]), joinedSentences(['a?'])]).to.deep.equal(['', 'a?']);
  });

  it('are joined in the time of their length: a body of a megabyte may have as many faults', () => {
    expect(joinedSentences(Array.from({ length: 100_000 }, () => 'is wrong'))).to.have.length(999_998);
  });
});
