import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { isObject } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import { isKind } from '../../crds/kind.ts';
import { checkManifest } from '../../crds/manifest.ts';

const root = new URL('../../', import.meta.url);
const examples = readdirSync(new URL('examples/', root), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => [name, read(`examples/${name}`)] as const);
const readme = blocksOf('README.md');
const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' }).filter((name) =>
  /^(?:guides|reference|maintainers)\/[^/]*\.md$/.test(name),
);
/** Examples whose Box sets the lifetime for all its clients. */
const ofBox = ['kustomize/apps/clients/reporting.yaml'];
/** Grants for the tokens of people. */
const ofPeople = ['authorization_code', 'implicit', 'password'];

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

function blocksOf(page: string): (readonly [page: string, text: string])[] {
  return Array.from(read(page).matchAll(/^```yaml\n(.*?)^```/gms), ([, text = '']) => [page, text] as const);
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

  // Without it, tokens have no expires_in, and expire after 30 days.
  for (const [name, text] of [...examples, ...readme, ...pages.flatMap((page) => blocksOf(`docs/${page}`))]) {
    for (const client of clientsOf(text)) {
      it(`${name} sets the lifetime of the tokens of ${client.id}`, () => {
        const isUnset = client.grants.filter((grant) => !client.lifetimes.includes(grant));
        expect(ofBox.includes(name) ? [] : isUnset).to.deep.equal([]);
      });
    }
  }

  it('set profile: strict in the Box where people sign in', () => {
    // E-24: no example did, so the laxest box was the one that people copied.
    const folders = Map.groupBy(examples, ([name]) => name.split('/').slice(0, -1).join('/'));
    const withPeople = [...folders.values()].filter((files) =>
      files.some(([, text]) => clientsOf(text).some(({ grants }) => grants.some((grant) => ofPeople.includes(grant)))),
    );
    expect(withPeople).to.have.length.above(0);
    for (const files of withPeople) {
      const boxes = files.flatMap(([, text]) => specsOf('Box', text));
      expect(boxes.map(({ compatibility }) => compatibility)).to.have.length(1);
      expect(JSON.stringify(boxes)).to.contain('"profile":"strict"').and.contain('"default_access_token_expiration"');
    }
  });

  it('set a lifetime in every Box that says anything about tokens', () => {
    const texts = [
      ...examples.map(([, text]) => text),
      ...pages.flatMap((page) => blocksOf(`docs/${page}`).map(([, text]) => text)),
    ];
    const tokens = texts
      .flatMap((text) => specsOf('Box', text))
      .flatMap((spec) => (isObject(spec['tokens']) ? [spec['tokens']] : []));
    expect(tokens).to.have.length.above(0);
    for (const one of tokens) expect(one).to.include.keys('default_access_token_expiration');
  });
});

function specsOf(kind: string, text: string): JsonObject[] {
  return documentsOf(text).flatMap((value) => {
    return isObject(value) && value['kind'] === kind && isObject(value['spec']) ? [value['spec']] : [];
  });
}

interface ExampleClient {
  readonly id: string;
  /** Grants that it lists and that have settings. */
  readonly grants: readonly string[];
  /** Grants whose settings have a lifetime. */
  readonly lifetimes: readonly string[];
}

function clientsOf(text: string): ExampleClient[] {
  return documentsOf(text).flatMap((value) => {
    if (!isObject(value) || value['kind'] !== 'Client' || !isObject(value['spec'])) return [];
    const { grant_types, auth } = value['spec'];
    const settings = Object.entries(isObject(auth) ? auth : {});
    return [
      {
        id: isObject(value['metadata']) ? String(value['metadata']['name']) : '',
        grants: (Array.isArray(grant_types) ? grant_types : []).map(String),
        lifetimes: settings.flatMap(([grant, own]) =>
          isObject(own) && 'access_token_expiration' in own ? [grant] : [],
        ),
      },
    ];
  });
}

/** The documents of a YAML text; none of a block that is a template or no manifest. */
function documentsOf(text: string): unknown[] {
  return parseAllDocuments(text)
    .filter(({ errors }) => errors.length === 0)
    .map((document): unknown => document.toJS());
}
