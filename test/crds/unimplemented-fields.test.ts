import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { grants } from '../../api/oauth/token/endpoint.ts';
import { GRANT_TYPES } from '../../crds/client.ts';
import { KINDS } from '../../crds/kind.ts';
import type { Kind } from '../../crds/kind.ts';
import { manifestSchemas } from '../../crds/manifest-schema.ts';
import { UNIMPLEMENTED_FIELDS, unimplementedFields } from '../../crds/unimplemented-fields.ts';
import { resourceReference } from '../../crds/reference.ts';
import { schemaNode } from '../../crds/schema-node.ts';
import type { SchemaNode } from '../../crds/schema-node.ts';

const root = new URL('../../', import.meta.url);
const kinds = Object.values(KINDS).map(({ kind }) => kind);

/** Free text and data of the author: stored and shown, and never meant to do anything. */
const toldOnly = ['name', 'description', 'details', 'reference'];
/** Members of a private key: a client that has one is refused. */
const refused = ['dp', 'dq', 'qi', 'oth'];
/** A member of a key, which jose reads. */
const readByJose = ['crv'];

/** Every field of a kind by its dotted name, members of lists as `field.member`. */
function fieldsOf(kind: Kind): readonly string[] {
  return below('', schemaNode(manifestSchemas[kind].properties.spec));
}

function below(parent: string, node: SchemaNode): readonly string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const path = parent === '' ? name : `${parent}.${name}`;
    const inner = below(path, field.items ?? field);
    return inner.length > 0 ? inner : [path];
  });
}

function isListed(kind: Kind, field: string): boolean {
  return UNIMPLEMENTED_FIELDS[kind].some((entry) => field === entry.field || field.startsWith(`${entry.field}.`));
}

/** The code that could give a field an effect: everything but the schemas, and the operator's leaving out of fields. */
function productCode(): string {
  const files = ['api', 'operator', 'dev'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file}`),
  );
  const texts = files.map((file) => readFileSync(new URL(file, root), 'utf8'));
  // `adoption: _adoption` takes a field away and does nothing with it.
  return texts.join('\n').replaceAll(/\w+: _\w+/g, '');
}

describe('the fields without effect in this version', () => {
  it('are fields of their kind', () => {
    for (const kind of kinds) {
      const known = fieldsOf(kind);
      for (const { field } of UNIMPLEMENTED_FIELDS[kind]) {
        const isField = known.some((path) => path === field || path.startsWith(`${field}.`));
        expect(isField, `${kind} ${field}`).to.equal(true);
      }
    }
  });

  it('are all that no code reads: a field that is accepted does something, is listed, or is in toldOnly', () => {
    const code = productCode();
    const silent = kinds.flatMap((kind) =>
      fieldsOf(kind)
        .filter(
          (field) =>
            !isListed(kind, field) && ![...toldOnly, ...refused, ...readByJose].includes(field.split('.').at(-1) ?? ''),
        )
        .filter((field) => !new RegExp(`\\b${field.split('.').at(-1) ?? ''}\\b`).test(code))
        .map((field) => `${kind} ${field}`),
    );
    expect(silent, 'give it its effect, or add one that people only read to toldOnly in this test').to.deep.equal([]);
  });

  it('are the grants that the token endpoint does not have', () => {
    const listed = UNIMPLEMENTED_FIELDS.Client.flatMap(({ field, value }) => (field === 'grant_types' ? [value] : []));
    // The implicit grant is not the token endpoint's: its token comes from the authorization endpoint.
    expect(listed).to.have.members(GRANT_TYPES.filter((name) => !grants.has(name) && name !== 'implicit'));
  });

  it('stand on the page of the resources, each with what is missing', () => {
    const page = resourceReference();
    for (const kind of kinds) {
      for (const { field, value, missing } of UNIMPLEMENTED_FIELDS[kind]) {
        const name = value === undefined ? `\`${field}\`` : `\`${field}: ${String(value)}\``;
        expect(page).to.contain(`| ${kind} | ${name} | ${missing} |`);
      }
    }
  });

  const specs: [kind: Kind, spec: unknown, names: string[]][] = [
    ['Client', { grant_types: ['client_credentials', 'refresh_token'] }, []],
    [
      'Client',
      { grant_types: ['client_credentials', 'urn:ietf:params:oauth:grant-type:token-exchange'] },
      ['spec.grant_types urn:ietf:params:oauth:grant-type:token-exchange'],
    ],
    ['Client', { allowed_origins: [], jwks_uri: 'https://a.example' }, []],
    ['Client', { first_party: true, generateSecret: { name: 's' } }, []],
    [
      'Client',
      { allowed_origins: [], generateSecret: { labels: {}, annotations: {} } },
      ['spec.generateSecret.labels', 'spec.generateSecret.annotations'],
    ],
    ['Box', { deletionPolicy: 'Retain', compatibility: { implicit: false } }, []],
    ['Box', { cors: {}, registration: { enabled: true }, deletionPolicy: 'Delete' }, []],
    ['AccessPolicy', { engine: 'allow', deletionPolicy: 'Retain', adoption: 'Force' }, []],
    ['Client', null, []],
    ['Client', { auth: 'x', rotation: { every: '720h' } }, []],
  ];
  for (const [kind, spec, names] of specs) {
    it(`of ${kind} ${JSON.stringify(spec)} are ${names.join(', ') || 'none'}`, () => {
      expect(unimplementedFields(kind, spec, true)).to.have.members(names);
    });
  }

  it('are fewer in a cluster, whose Secrets have labels and annotations', () => {
    const spec = { allowed_origins: [], generateSecret: { labels: {}, annotations: {} } };
    expect(unimplementedFields('Client', spec, false)).to.deep.equal([]);
  });
});
