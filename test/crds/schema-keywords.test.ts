import { Ajv } from 'ajv';
import { expect } from 'chai';
import Type from 'typebox';
import { pruneNulls, validate, shapeOf, type Shape } from '../../crds/shape.ts';
import { manifestRules, type ManifestRule } from '../../crds/manifest.ts';
import { manifestSchemas, type ManifestOf } from '../../crds/manifest-schema.ts';
import { KINDS, type Kind } from '../../crds/kind.ts';
import { schemaNode, type SchemaNode } from '../../crds/schema-node.ts';
import { table } from './objects/table.ts';
import type { Row } from './objects/row.ts';

const KEYWORDS = [
  'required',
  'additionalProperties',
  'enum',
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'uniqueItems',
  'maxProperties',
] as const;

/** Bounds that other keywords imply; they stand there for the cost that the API server estimates for CEL (K-09). */
const IMPLIED = new Set([
  'spec.grant_types: maxItems',
  'spec.id_token_claims: maxItems',
  'spec.sign_in.color: maxLength',
  'spec.rotation.every: minLength',
  'spec.rotation.every: maxLength',
  'spec.rotation.overlap: maxLength',
  // Keys with these members are refused whatever they hold.
  ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].map((member) => `spec.jwks.keys[].${member}: maxLength`),
  'spec.jwks.keys[].oth: maxItems',
  'spec.jwks.keys[].oth[]: maxProperties',
]);

describe('the keywords of the schemas', () => {
  for (const { kind } of Object.values(KINDS)) {
    it(`${kind}: are used as JSON Schema says`, () => {
      const ajv = new Ajv();
      expect(ajv.validateSchema(schemaNode(manifestSchemas[kind])), ajv.errorsText()).to.equal(true);
    });

    for (const keyword of KEYWORDS) {
      it(`${kind}: an object of test/crds/objects passes wrongly wherever ${keyword} is taken out`, () => {
        const spec = schemaNode(manifestSchemas[kind].properties.spec);
        const passing = pathsThatPass(kind, without(spec, keyword));
        const unnoticed = placesOf(spec, keyword, 'spec').filter(
          (place) => !IMPLIED.has(`${place}: ${keyword}`) && !passing.some((path) => isAt(path, place)),
        );
        expect(unnoticed, 'add a wrong value of it to test/crds/objects, or a row to IMPLIED').to.deep.equal([]);
      });
    }
  }
});

/** The paths that the table says are refused and that are not under another schema of the spec. */
function pathsThatPass(kind: Kind, spec: SchemaNode): string[] {
  const rows = table.filter((row) => row.kind === kind && row.verdict === 'refused');
  switch (kind) {
    case 'Client':
      return passing(shapeWith('Client', spec), manifestRules.Client, rows);
    case 'AccessPolicy':
      return passing(shapeWith('AccessPolicy', spec), manifestRules.AccessPolicy, rows);
    case 'Box':
      return passing(shapeWith('Box', spec), manifestRules.Box, rows);
    case 'Group':
      return passing(shapeWith('Group', spec), manifestRules.Group, rows);
  }
}

function shapeWith<K extends Kind>(kind: K, spec: SchemaNode): Shape<ManifestOf<K>> {
  const whole = schemaNode(manifestSchemas[kind]);
  return shapeOf(Type.Unsafe<ManifestOf<K>>({ ...whole, properties: { ...whole.properties, spec } }));
}

function passing<K extends Kind>(
  shape: Shape<ManifestOf<K>>,
  rules: readonly ManifestRule<K>[],
  rows: readonly Row[],
): string[] {
  return rows.flatMap((row) => {
    const validated = validate(shape, rules, pruneNulls(row.object, shape.node));
    return row.paths.filter((path) => validated.ok || !validated.faults.some((fault) => fault.path === path));
  });
}

/** Returns the paths of a keyword, such as `spec.link[].id`; `.*` denotes the values of a map. */
function placesOf(node: SchemaNode, keyword: string, path: string): string[] {
  const { properties, items, additionalProperties } = node;
  const isThere = node[keyword] !== undefined && (keyword !== 'additionalProperties' || additionalProperties === false);
  return [
    ...(isThere ? [path] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, field]) => placesOf(field, keyword, `${path}.${name}`)),
    ...(items === undefined ? [] : placesOf(items, keyword, `${path}[]`)),
    ...(additionalProperties ? placesOf(additionalProperties, keyword, `${path}.*`) : []),
  ];
}

/**
 * Checks whether a rejected path is the path of a keyword, or a member or element of it (`required`, `uniqueItems`).
 */
function isAt(path: string, place: string): boolean {
  const pattern = place.replaceAll('.', '\\.').replaceAll('[]', '\\[\\d+\\]').replaceAll('*', '[^.[]+');
  return new RegExp(`^${pattern}(\\.[^.[]+|\\[\\d+\\])?$`).test(path);
}

/** The schema with a keyword left out everywhere; the schema of a map's values stays. */
function without(node: SchemaNode, keyword: string): SchemaNode {
  const { properties, items, additionalProperties, ...rest } = node;
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== keyword));
  return {
    ...kept,
    ...(additionalProperties ? { additionalProperties: without(additionalProperties, keyword) } : {}),
    ...(additionalProperties === false && keyword !== 'additionalProperties' ? { additionalProperties } : {}),
    ...(items === undefined ? {} : { items: without(items, keyword) }),
    ...(properties === undefined ? {} : { properties: withoutEach(properties, keyword) }),
  };
}

function withoutEach(properties: Readonly<Record<string, SchemaNode>>, keyword: string): Record<string, SchemaNode> {
  return Object.fromEntries(Object.entries(properties).map(([name, node]) => [name, without(node, keyword)]));
}
