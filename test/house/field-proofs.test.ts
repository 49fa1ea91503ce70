import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { KINDS } from '../../crds/kind.ts';
import { manifestSchemas } from '../../crds/manifest-schema.ts';
import { fieldsOf, isNotInForce } from '../../crds/reference.ts';
import { schemaNode } from '../../crds/schema-node.ts';
import { FIELD_PROOFS } from './field-proofs.ts';

describe('the fields of the custom resources', () => {
  for (const { kind } of Object.values(KINDS)) {
    const fields = fieldsOf(schemaNode(manifestSchemas[kind].properties.spec));
    const inForce = fields.filter(({ path, isLeaf }) => isLeaf && !isNotInForce(kind, path)).map(({ path }) => path);

    it(`of ${kind} have each a test that proves what they do; name it in test/house/field-proofs.ts`, () => {
      expect(inForce.filter((path) => FIELD_PROOFS[kind][path] === undefined)).to.deep.equal([]);
    });

    it(`of ${kind} that a test is named for are there`, () => {
      const known = fields.map(({ path }) => path);
      expect(Object.keys(FIELD_PROOFS[kind]).filter((path) => !known.includes(path))).to.deep.equal([]);
    });

    it(`of ${kind} name tests that are there`, () => {
      const proofs = Object.entries(FIELD_PROOFS[kind]);
      const missing = proofs.filter(
        ([, [file, title]]) => !existsSync(file) || !readFileSync(file, 'utf8').includes(title),
      );
      expect(missing).to.deep.equal([]);
    });
  }
});
