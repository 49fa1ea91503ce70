import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { isKind } from '../../crds/kind.ts';
import { checkManifest } from '../../crds/manifest.ts';

const root = new URL('../../', import.meta.url);
const examples = readdirSync(new URL('examples/', root), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => [name, read(`examples/${name}`)] as const);
const readme = Array.from(
  read('README.md').matchAll(/```yaml\n(.*?)```/gs),
  ([, text = '']) => ['README.md', text] as const,
);

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

function kindOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
}

describe('the examples a stranger reads', () => {
  it('declare a client, a policy and a box, and the README shows one of them', () => {
    const kinds = examples.flatMap(([, text]) => parseAllDocuments(text).map((document) => kindOf(document.toJS())));
    expect(kinds).to.include.members(['Client', 'AccessPolicy', 'Box']);
    expect(readme).to.have.length.greaterThan(0);
  });

  for (const [name, text] of [...examples, ...readme]) {
    it(`${name} holds manifests that are accepted as they are`, () => {
      for (const document of parseAllDocuments(text)) {
        if (!isKind(kindOf(document.toJS()))) continue;
        const checked = checkManifest(document.toJS());
        expect(checked.ok ? [] : checked.faults).to.deep.equal([]);
      }
    });
  }
});
