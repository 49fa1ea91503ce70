import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asPlugin } from '../../api/cli/help.ts';

describe('the start of boxctl', () => {
  it('loads no package: most commands run faster than one loads', () => {
    expect(packagesLoadedBy(new URL('../../api/cli/main.ts', import.meta.url))).to.deep.equal([]);
  });
});

describe('the help text of the plugin of kubectl', () => {
  it('has its commands as they are typed', () => {
    expect(asPlugin('boxctl user list\nBOXCTL_BOX')).to.equal('kubectl boxgate user list\nBOXCTL_BOX');
  });
});

/** Returns the packages, and with them the files, that a module and its imports import before anything runs. */
function packagesLoadedBy(first: URL): readonly string[] {
  const files = new Set([first.href]);
  const packages: string[] = [];
  for (const file of files) {
    const text = readFileSync(fileURLToPath(file), 'utf8');
    for (const [, name = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)';/gm)) {
      if (name.startsWith('.')) files.add(new URL(name, file).href);
      else if (!name.startsWith('node:')) packages.push(`${name} in ${file}`);
    }
  }
  return packages;
}
