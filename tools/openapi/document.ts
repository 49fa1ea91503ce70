import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Route, Subtree } from '../../api/http/server/router.ts';
import { isObject } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import { collectionOperations } from './collections.ts';
import { checkOperation, inPath, operationObject, operations } from './operations.ts';
import type { Operation } from './operations.ts';
import { errorRef, errors, response, sharedErrors } from './responses.ts';
import type { Shape } from './responses.ts';
import { schemas } from './schemas.ts';

/** The tables of routes that a document describes. */
export interface Routes {
  readonly routes: readonly Route[];
  readonly subtrees: readonly Subtree[];
}

/**
 * Returns the OpenAPI 3.1 document of a box. Throws an Error that names a route without an operation, or the reverse.
 */
export function openApiDocument({ routes, subtrees }: Routes): JsonObject {
  const names = routes.map(([method, path]) => `${method} ${path}`);
  const all = { ...operations, ...collectionOperations };
  const missing = names.filter((name) => all[name] === undefined);
  const unknown = Object.keys(operations).filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`tools/openapi/operations.yaml does not describe ${missing.join(', ')}`);
  if (unknown.length > 0)
    throw new Error(`tools/openapi/operations.yaml describes ${unknown.join(', ')}: no such route`);
  const fixed: unknown = parse(readFileSync(new URL('./document.yaml', import.meta.url), 'utf8'));
  if (!isObject(fixed)) throw new TypeError('document.yaml is not an object');
  const { headers, securitySchemes, ...head } = fixed;
  const document = {
    ...head,
    'x-other-paths': { responses: errors('Any') },
    paths: { ...pathsOf(routes, all), ...checkPaths(subtrees) },
    components: {
      schemas: schemas(),
      responses: { ...sharedErrors(), Preflight: preflight() },
      headers,
      securitySchemes,
    },
  };
  return { ...document, components: { ...document.components, responses: usedResponses(document) } };
}

/** Returns the shared responses of a document that it refers to; the one to a preflight belongs to many paths. */
function usedResponses(document: { readonly components: { readonly responses: JsonObject } }): JsonObject {
  const text = JSON.stringify(document);
  const { responses } = document.components;
  const isUsed = (name: string): boolean => name === 'Preflight' || text.includes(`"#/components/responses/${name}"`);
  return Object.fromEntries(Object.entries(responses).filter(([name]) => isUsed(name)));
}

function pathsOf(routes: readonly Route[], all: Readonly<Record<string, Operation>>): JsonObject {
  const objectOf = (route: Route): readonly (readonly [string, JsonObject])[] => {
    const [method, path] = route;
    const operation = all[`${method} ${path}`];
    return operation === undefined ? [] : [[method.toLowerCase(), operationObject(path, shapeOf(route), operation)]];
  };
  return Object.fromEntries(
    Array.from(
      Map.groupBy(routes, ([, path]) => path),
      ([path, sharing]) => [
        path.replaceAll(/:(\w+)/g, '{$1}'),
        {
          ...(path.includes(':id') ? { parameters: [inPath('id', 'The ID of the resource.')] } : {}),
          ...Object.fromEntries(sharing.flatMap(objectOf)),
          'x-other-methods': { responses: { 405: errorRef(shapeOf(sharing[0]), 405) } },
        },
      ],
    ),
  );
}

function shapeOf(route: Route | undefined): Shape {
  if (route?.[2] === 'page') return 'Page';
  return route?.[2] === 'resource' ? 'Resource' : 'OAuth';
}

function checkPaths(subtrees: readonly Subtree[]): JsonObject {
  const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
  const item = (id: string): JsonObject =>
    Object.fromEntries(
      methods.map((method) => [method, operationObject('', 'Check', { ...checkOperation, id: `${id}-${method}` })]),
    );
  const below = inPath('original', 'The path of the original request.');
  return Object.fromEntries(
    subtrees.flatMap(([path]) => [
      [path, item('check')],
      [`${path}/{original}`, { parameters: [below], ...item('checkBelow') }],
    ]),
  );
}

function preflight(): JsonObject {
  return response(
    'The methods that are allowed here. With `Access-Control-` headers, the origin may call this address.',
    undefined,
    ['Allow', 'Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Access-Control-Max-Age'],
  );
}
