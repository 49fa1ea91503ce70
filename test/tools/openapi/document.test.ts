import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { routes, subtrees } from '../../../api/app.ts';
import { isList, isObject, parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { createMatching } from '../../support/responses/comparison.ts';
import { describedResponses } from '../../support/responses/described.ts';
import { openApiDocument } from '../../../tools/openapi/document.ts';

describe('the OpenAPI document', () => {
  const document = openApiDocument({ routes, subtrees });
  const { schemas } = describedResponses(document);

  it('passes the validator of others, as OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(copyOf(JSON.stringify(document)));
    expect(errors ?? []).to.deep.equal([]);
    expect([valid, validator.version]).to.deep.equal([true, '3.1']);
  });

  it('is refused by that validator once a response lacks its description', async () => {
    const broken = JSON.stringify(document).replace('"description":"The token response.",', '');
    expect((await new Validator().validate(copyOf(broken))).valid).to.equal(false);
  });

  it('describes each route: a route without an operation is named', () => {
    const [first] = routes;
    if (first === undefined) throw new Error('no route');
    const [, , shape, endpoint] = first;
    const more = [...routes, ['GET', '/new', shape, endpoint] as const];
    expect(() => openApiDocument({ routes: more, subtrees })).to.throw('does not describe GET /new');
    expect(() => openApiDocument({ routes: routes.slice(1), subtrees })).to.throw(
      'describes POST /auth/token: no such route',
    );
  });

  it('has examples that are as it says', () => {
    const matching = createMatching(schemas);
    const examples = Object.entries(schemas).flatMap(([name, schema]) =>
      (isList(schema['examples']) ? schema['examples'] : []).map((example) => [name, example] as const),
    );
    expect(examples.length).to.be.greaterThan(20);
    for (const [name, example] of examples) {
      expect(matching({ $ref: `#/components/schemas/${name}` }, example), name).to.deep.equal([]);
    }
  });

  it('refers to nothing that is missing, and has nothing that is not referred to', () => {
    const text = JSON.stringify(document);
    const referred = new Set([...text.matchAll(/"\$ref":"(#\/components\/[^"]+)"/g)].map(([, ref = '']) => ref));
    const components = new Set(
      Object.entries(member(document, 'components'))
        .filter(([kind]) => kind !== 'securitySchemes')
        .flatMap(([kind, named]) =>
          Object.keys(isObject(named) ? named : {}).map((name) => `#/components/${kind}/${name}`),
        ),
    );
    expect([...referred].filter((ref) => !components.has(ref))).to.deep.equal([]);
    expect([...components].filter((ref) => !referred.has(ref)).sort()).to.deep.equal([
      '#/components/responses/Preflight',
    ]);
  });
});

function copyOf(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (isObject(value)) return { ...value };
  throw new Error('not an object');
}

function member(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : {};
}
