import { expect } from 'chai';
import { checkManifest, manifestRules } from '../../crds/manifest.ts';
import { KINDS, type Kind } from '../../crds/kind.ts';
import { table } from './objects/table.ts';

describe('the rules between fields', () => {
  for (const { kind } of Object.values(KINDS)) {
    const ids = manifestRules[kind].map(({ id }) => id);

    it(`of ${kind} have one id each`, () => {
      expect(new Set(ids).size).to.equal(ids.length);
    });

    for (const { id, message } of manifestRules[kind].filter(({ broken }) => broken !== undefined)) {
      it(`of ${kind}: an object of test/crds/objects passes wrongly without ${id}`, () => {
        expect(titleThatPassesWithout(kind, message)).to.be.a('string');
      });
    }

    it(`of ${kind} read as sentences that name the field`, () => {
      for (const { path, message } of manifestRules[kind]) {
        expect(`${path} ${message}`).to.match(/^(spec|metadata)\.\S+ (must|or) [^\n]+[^.\n]$/);
      }
    });
  }
});

/** Title of a refused object of which a field is refused by no other message. */
function titleThatPassesWithout(kind: Kind, message: string): string | undefined {
  const rows = table.filter((row) => row.kind === kind && row.verdict === 'refused' && row.old === undefined);
  return rows.find(({ object, paths }) => {
    const checked = checkManifest(object);
    const others = checked.ok ? [] : checked.faults.filter((fault) => fault.message !== message);
    return !paths.every((path) => others.some((fault) => fault.path === path));
  })?.title;
}
