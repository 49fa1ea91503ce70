import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';

/** A response of the OpenAPI document, with its references resolved. */
export interface DescribedResponse {
  /** `GET /Client/{id} 404`; of what any path can answer: `any path 404`. */
  readonly name: string;
  /** Names in lower case; true: it must be there. */
  readonly headers: ReadonlyMap<string, boolean>;
  /** Schemas by content type; undefined: there is no body. */
  readonly content: Readonly<Record<string, JsonObject>> | undefined;
}

/** The responses of a document. */
export interface DescribedResponses {
  /** Every response of every operation, by its name. */
  readonly names: ReadonlySet<string>;
  readonly schemas: Readonly<Record<string, JsonObject>>;
  /** Checks whether a route, as the route table writes it, has a path in the document. */
  isRoute(route: string): boolean;
  /**
   * Returns the response that a request to a path below the box may get with a status; undefined: none is described.
   */
  find(method: string, path: string, status: number): DescribedResponse | undefined;
}

/** Members of a path item that are operations. */
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/** Reads the responses of an OpenAPI document. */
export function describedResponses(document: JsonObject): DescribedResponses {
  const components = member(document, 'components');
  const paths = Object.entries(member(document, 'paths')).map(([template, item]) => pathOf(template, asObject(item)));
  const fixed = new Map(paths.filter(({ template }) => !template.includes('{')).map((path) => [path.template, path]));
  const known = new Map<string, DescribedResponse | undefined>();

  function resolved(response: unknown): JsonObject | undefined {
    if (!isObject(response)) return undefined;
    const { $ref } = response;
    if (typeof $ref !== 'string') return response;
    return member(member(components, 'responses'), $ref.replace('#/components/responses/', ''));
  }

  function described(name: string, response: unknown): DescribedResponse | undefined {
    const found = known.get(name) ?? make(name, resolved(response));
    known.set(name, found);
    return found;
  }

  function make(name: string, response: JsonObject | undefined): DescribedResponse | undefined {
    if (response === undefined) return undefined;
    const headers = Object.keys(member(response, 'headers')).map((header): [string, boolean] => [
      header.toLowerCase(),
      member(member(components, 'headers'), header)['required'] === true,
    ]);
    const { content } = response;
    const types = isObject(content)
      ? Object.fromEntries(Object.entries(content).map(([type, media]) => [type, member(asObject(media), 'schema')]))
      : undefined;
    return { name, headers: new Map(headers), content: types };
  }

  const anyPath = (status: string): DescribedResponse | undefined =>
    described(`any path ${status}`, member(member(document, 'x-other-paths'), 'responses')[status]);

  function find(method: string, path: string, code: number): DescribedResponse | undefined {
    const status = String(code);
    const at = fixed.get(path) ?? paths.find(({ pattern }) => pattern.test(path));
    if (at === undefined) return anyPath(status);
    const asked = operationOf(at.item, method.toLowerCase());
    if (asked !== undefined) {
      const [own, operation] = asked;
      const name = `${own.toUpperCase()} ${at.template} ${status}`;
      return described(name, member(operation, 'responses')[status]);
    }
    if (method === 'OPTIONS' && status === '204')
      return described('preflight 204', { $ref: '#/components/responses/Preflight' });
    const other = member(member(at.item, 'x-other-methods'), 'responses')[status];
    return described(`other methods of ${at.template} ${status}`, other) ?? anyPath(status);
  }

  const names = paths.flatMap(({ template, item }) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .flatMap(([method, operation]) =>
        Object.keys(member(asObject(operation), 'responses')).map(
          (status) => `${method.toUpperCase()} ${template} ${status}`,
        ),
      ),
  );
  const schemas = Object.entries(member(components, 'schemas')).map(([name, schema]): [string, JsonObject] => [
    name,
    asObject(schema),
  ]);
  const templates = new Set(paths.map(({ template }) => template));
  const isRoute = (route: string): boolean => templates.has(route.replaceAll(/:(\w+)/g, '{$1}'));
  return { names: new Set(names), schemas: Object.fromEntries(schemas), isRoute, find };
}

/** Returns the operation that answers a method: a HEAD is answered like a GET, where it has none of its own. */
function operationOf(item: JsonObject, method: string): readonly [string, JsonObject] | undefined {
  const takesAll = item['trace'] !== undefined;
  const name = [method, ...(method === 'head' || takesAll ? ['get'] : [])].find(
    (one) => METHODS.has(one) && isObject(item[one]),
  );
  return name === undefined ? undefined : [name, member(item, name)];
}

interface DescribedPath {
  readonly template: string;
  readonly pattern: RegExp;
  readonly item: JsonObject;
}

function pathOf(template: string, item: JsonObject): DescribedPath {
  // The original path of a gateway has any number of segments.
  const source = template
    .replaceAll('$', '\\$')
    .replaceAll('.', '\\.')
    .replace('{original}', '.*')
    .replaceAll(/\{\w+\}/g, '[^/]+');
  return { template, pattern: new RegExp(`^${source}$`, 's'), item };
}

function member(object: JsonObject, name: string): JsonObject {
  return asObject(object[name]);
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
