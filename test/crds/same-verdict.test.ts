import { expect } from 'chai';
import fc from 'fast-check';
import { KINDS, type Kind } from '../../crds/kind.ts';
import { checkManifest } from '../../crds/manifest.ts';
import { manifestSchemas } from '../../crds/manifest-schema.ts';
import { schemaNode, type SchemaNode } from '../../crds/schema-node.ts';
import { controlPlane, type ControlPlane } from '../support/cluster/control-plane.ts';
import { installCrds } from '../support/cluster/install-crds.ts';
import { seededRandom } from '../support/random.ts';

/** A Group has few fields, and its name takes nearly every text: few of its objects are refused. */
const objectsOf = (kind: Kind): number => (kind === 'Group' ? 900 : 150);

/** Texts that are valid in some field, at the edge of a rule, or valid nowhere. */
const texts = [
  ...['app', 'App', 'a.b', 'a-b', '7', 'a b', '', '../x', 'a/b', 'ü', 'a\nb', 'box', 'admins', 'client_secret'],
  ...['https://a.example/x', 'https://a.example', 'http://127.0.0.1/x', 'http://a.example/x', 'com.example:/x', '//x'],
  ...['720h', '30m', '0s', 'h', '2026-01-01T00:00:00Z', '2026-02-31T00:00:00Z', 'Client/app', 'User/7', 'Box/x'],
  ...[
    '{{client_id}}',
    '{{password}}',
    'a.example',
    'a.svc',
    'a@a.example',
    'uri == "/"',
    'x'.repeat(64),
    'x'.repeat(129),
  ],
];

describe('objects made by chance from the schemas', () => {
  let plane: ControlPlane;
  before(async () => {
    plane = await controlPlane();
    await installCrds(plane);
    await plane.call({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'chance' } } });
  });

  for (const { kind, plural } of Object.values(KINDS)) {
    it(`K-09 as a ${kind} get the same verdict from the API server as from our own check`, async () => {
      const { seed } = seededRandom();
      const path = `/apis/boxgate.dev/v1/namespaces/chance/${plural}?dryRun=All&fieldValidation=Strict`;
      const verdicts = { taken: 0, refused: 0 };
      for (const object of fc.sample(manifests(kind), { numRuns: objectsOf(kind), seed })) {
        const checked = checkManifest(object);
        const { status, body } = await plane.call({ method: 'POST', path, body: object });
        const said = checked.ok ? JSON.stringify(body) : JSON.stringify(checked.faults);
        const which = `BOXGATE_SEED=${String(seed)}: ${JSON.stringify(object)}: ${said}`;
        expect(status, which).to.be.oneOf([201, 400, 422]);
        expect(status === 201, which).to.equal(checked.ok);
        verdicts[checked.ok ? 'taken' : 'refused'] += 1;
      }
      expect(verdicts.taken, 'taken').to.be.greaterThan(3);
      expect(verdicts.refused, 'refused').to.be.greaterThan(kind === 'Group' ? 5 : 20);
    });
  }
});

function manifests(kind: Kind): fc.Arbitrary<unknown> {
  const metadata = { name: kind === 'Box' ? 'box' : 'app', namespace: 'chance' };
  const spec = valueOf(schemaNode(manifestSchemas[kind].properties.spec));
  return spec.map((made) => ({ apiVersion: 'boxgate.dev/v1', kind, metadata, spec: made }));
}

/** Mostly of the right type; required fields are mostly there, others rarely, so that not all of them are refused. */
function valueOf(node: SchemaNode): fc.Arbitrary<unknown> {
  const right = rightTyped(node);
  return fc.oneof(
    { weight: 60, arbitrary: right },
    { weight: 1, arbitrary: fc.constantFrom(7, 'text', true, [], {}, null) },
  );
}

function rightTyped(node: SchemaNode): fc.Arbitrary<unknown> {
  const values = node['enum'];
  if (Array.isArray(values)) {
    const known: readonly unknown[] = values;
    return fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: fc.constant('Unknown') },
    );
  }
  switch (node.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.constantFrom(Number(node['minimum'] ?? 0), 3600, 86_400, Number(node['maximum'] ?? 9), 0, -1, 1.5);
    case 'array':
      return fc.array(valueOf(node.items ?? { type: 'string' }), { maxLength: 3 });
    case 'object':
      return node.properties === undefined ? mapOf(node) : membersOf(node, node.properties);
    case 'string':
    case undefined:
    default:
      return fc.constantFrom(...fitting(node), ...fitting(node), ...fitting(node), ...texts);
  }
}

/** Those of the texts that its pattern takes. */
function fitting({ pattern }: SchemaNode): readonly string[] {
  const form = new RegExp(typeof pattern === 'string' ? pattern : '', 'u');
  return texts.filter((text) => text !== '' && form.test(text));
}

function mapOf({ additionalProperties }: SchemaNode): fc.Arbitrary<unknown> {
  if (additionalProperties === undefined || additionalProperties === false) return fc.constantFrom({}, { a: 1 });
  return fc.dictionary(fc.constantFrom('a', 'example.com/b', 'kubernetes.io/c', 'd e'), valueOf(additionalProperties), {
    maxKeys: 2,
  });
}

function membersOf(node: SchemaNode, properties: Readonly<Record<string, SchemaNode>>): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).map(([name, child]) => {
    const [present, absent] = node.required?.includes(name) === true ? [30, 1] : [1, 6];
    const chance = [
      { weight: present, arbitrary: valueOf(child) },
      { weight: absent, arbitrary: fc.constant(undefined) },
    ];
    return [name, fc.oneof(...chance)] as const;
  });
  return fc.record(Object.fromEntries(members)).map((made) => {
    return Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined));
  });
}
