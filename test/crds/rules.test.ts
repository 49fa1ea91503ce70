import { expect } from 'chai';
import { checkManifest, type ManifestRules, manifestRules } from '../../crds/manifest.ts';
import { KINDS, type Kind } from '../../crds/kind.ts';
import { table } from './objects/table.ts';

describe('the rules between fields', () => {
  for (const { kind } of Object.values(KINDS)) {
    const ids = manifestRules[kind].map(({ id }) => id);

    it(`of ${kind} have one id each`, () => {
      expect(new Set(ids).size).to.equal(ids.length);
    });

    for (const id of ids) {
      it(`of ${kind}: an object of test/crds/objects passes wrongly without ${id}`, () => {
        expect(titleThatPassesWithout(kind, id)).to.be.a('string');
      });
    }

    it(`of ${kind} read as sentences that name the field`, () => {
      for (const { path, message } of manifestRules[kind]) {
        expect(`${path} ${message}`).to.match(/^(spec|metadata)\.\S+ (must|or) [^\n]+[^.\n]$/);
      }
    });
  }
});

/** Title of a refused object of which a field is no longer refused without the rule. */
function titleThatPassesWithout(kind: Kind, id: string): string | undefined {
  const rules: ManifestRules = {
    Client: manifestRules.Client.filter((rule) => rule.id !== id),
    AccessPolicy: manifestRules.AccessPolicy.filter((rule) => rule.id !== id),
    Box: manifestRules.Box.filter((rule) => rule.id !== id),
    Group: manifestRules.Group.filter((rule) => rule.id !== id),
  };
  const rows = table.filter((row) => row.kind === kind && row.verdict === 'refused');
  return rows.find(({ object, old, paths }) => {
    const checked = checkManifest(object, old, rules);
    return checked.ok || !paths.every((path) => checked.faults.some((fault) => fault.path === path));
  })?.title;
}
