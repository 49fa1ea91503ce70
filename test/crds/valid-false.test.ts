import { expect } from 'chai';
import { CompiledPolicy } from '../../api/policy/compile.ts';
import { checkManifest } from '../../crds/manifest.ts';
import { keyFaults } from '../../crds/public-keys.ts';
import { resourceOf } from '../../api/client/manifest/resource.ts';
import type { Row } from './objects/row.ts';
import { table } from './objects/table.ts';

/** Returns the fault of an object that no CRD rejects: from our own check, or from the compiler. */
function whyNotValid(row: Row): string | undefined {
  const checked = checkManifest(row.object);
  if (!checked.ok) return checked.faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  const resource = resourceOf(checked.manifest, 'shop');
  if (resource.resourceType === 'Client') return keyFaults(resource.jwks)[0]?.message;
  return resource.resourceType === 'AccessPolicy' ? new CompiledPolicy(resource).fault : undefined;
}

describe('Valid=False', () => {
  for (const row of table.filter(({ verdict }) => verdict === 'valid-false')) {
    it(`${row.kind}: ${row.title}: the API server takes it, and it grants nothing`, () => {
      expect(whyNotValid(row)).to.be.a('string').that.is.not.empty;
    });
  }

  for (const row of table.filter(({ verdict }) => verdict === 'accepted')) {
    it(`not ${row.kind}: ${row.title}`, () => {
      expect(whyNotValid(row)).to.equal(undefined);
    });
  }
});
