import { isObject } from '../../crds/path.ts';
import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { customResourceDefinition } from '../../crds/crd.ts';
import { KINDS } from '../../crds/kind.ts';
import type { SchemaNode } from '../../crds/schema-node.ts';

interface Field {
  readonly path: string;
  readonly node: SchemaNode;
}

function fieldsOf(node: SchemaNode, path = ''): Field[] {
  const { properties, items, additionalProperties } = node;
  return [
    { path, node },
    ...Object.entries(properties ?? {}).flatMap(([name, field]) => fieldsOf(field, `${path}.${name}`)),
    ...(items === undefined ? [] : fieldsOf(items, `${path}[]`)),
    ...(additionalProperties ? fieldsOf(additionalProperties, `${path}.*`) : []),
  ];
}

describe('customResourceDefinition', () => {
  it('is what `kubectl apply -f crds/` finds, and nothing else is', () => {
    const files = readdirSync(new URL('../../crds/', import.meta.url)).filter((name) => /\.(ya?ml|json)$/.test(name));
    expect(files.sort()).to.deep.equal([
      'boxgate.dev_accesspolicies.yaml',
      'boxgate.dev_boxes.yaml',
      'boxgate.dev_clients.yaml',
      'boxgate.dev_groups.yaml',
    ]);
  });

  for (const { kind, plural, shortName } of Object.values(KINDS)) {
    const definition = customResourceDefinition(kind);
    const [version] = definition.spec.versions;
    const schema: SchemaNode | undefined = version?.schema.openAPIV3Schema;
    const fields = fieldsOf(schema ?? {}).filter(({ path }) => path !== '.metadata');

    describe(kind, () => {
      it('is committed as it is made', () => {
        const file = new URL(`../../crds/boxgate.dev_${plural}.yaml`, import.meta.url);
        const committed: unknown = parse(readFileSync(file, 'utf8'));
        expect(committed, 'run make generate, which writes it').to.deep.equal(JSON.parse(JSON.stringify(definition)));
      });

      it('has its names, its short name, the category and a status of its own', () => {
        expect(definition.metadata.name).to.equal(`${plural}.boxgate.dev`);
        expect(definition.spec.names.shortNames).to.deep.equal([shortName]);
        expect(definition.spec.names.categories).to.deep.equal(['boxgate']);
        expect(definition.spec.scope).to.equal('Namespaced');
        expect(version?.subresources).to.deep.equal({ status: {} });
      });

      it('describes every field for kubectl explain', () => {
        expect(fields.filter(({ node }) => (node.description ?? '') === '').map(({ path }) => path)).to.deep.equal([]);
      });

      it('K-09 is structural: a type everywhere, no keyword that only JSON Schema has', () => {
        const foreign = [
          'additionalProperties',
          'uniqueItems',
          'const',
          '$ref',
          'anyOf',
          'allOf',
          'oneOf',
          'patternProperties',
        ];
        for (const { path, node } of fields) {
          expect(node.type, path).to.be.oneOf(['object', 'array', 'string', 'integer', 'boolean']);
          for (const keyword of foreign) {
            const value = node[keyword];
            expect(value === undefined || (keyword === 'additionalProperties' && isObject(value)), path).to.be.true;
          }
        }
      });

      it('K-09 bounds every text, list and map', () => {
        const loose = fields.filter(({ path, node }) => /^\.(spec|status)/.test(path) && !isBounded(node));
        expect(loose.map(({ path }) => path)).to.deep.equal([]);
      });

      it('K-09 shows no secret in a column', () => {
        const shown = version?.additionalPrinterColumns.map(({ jsonPath }) => jsonPath) ?? [];
        expect(shown.filter((path) => path.startsWith('.spec.secret') || path.includes('template'))).to.deep.equal([]);
      });

      it('takes an object for unhealthy until somebody has looked at it', () => {
        expect(schema?.properties?.['status']?.['default']).to.deep.equal({ observedGeneration: -1 });
      });

      it('says each rule in a message of one line that names the field', () => {
        for (const { node } of fields) {
          const rules = node['x-kubernetes-validations'];
          for (const rule of Array.isArray(rules) ? rules : []) {
            expect(rule)
              .to.have.property('message')
              .that.matches(/^\S+ (must|or) [^\n]{1,400}$/);
          }
        }
      });
    });
  }
});

function isBounded(node: SchemaNode): boolean {
  if (node.type === 'string') return node['maxLength'] !== undefined || node['enum'] !== undefined;
  if (node.type === 'array') return node['maxItems'] !== undefined;
  if (node.type === 'object') return node.properties !== undefined || node['maxProperties'] !== undefined;
  return true;
}
