import { resourceRoutes } from '../../../api/http/resources/resource-routes.ts';
import { userRoutes } from '../../../api/http/resources/resource-routes.ts';
import type { Random } from '../../support/random.ts';
import { clients, groupNames, headerValues, parameterNames } from './known-names.ts';
import type { People } from './known-names.ts';

/** A request of a route that asks the policies, without its token. */
export interface MadeRequest {
  readonly method: string;
  /** Below the box, with needless escapes, without the query. */
  readonly path: string;
  /** Name and value, in their order in the query. */
  readonly query: readonly (readonly [string, string])[];
  /** Values of the header `X-Team`. */
  readonly teams: readonly string[];
  readonly contentType: string | undefined;
  readonly body: unknown;
}

/** IDs of a box's records, for paths that address them. */
export interface Places extends People {
  readonly sessions: readonly [string, ...string[]];
}

/** A method, and a path with `:id` for an ID. */
type Template = readonly [method: string, path: string];

const templates = askingRoutes();
const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

function askingRoutes(): readonly [Template, ...Template[]] {
  const routes = [...resourceRoutes, ...userRoutes].map(({ method, path }): Template => [method, path]);
  const heads = routes.filter(([method]) => method === 'GET').map(([, path]): Template => ['HEAD', path]);
  return [['POST', '/AccessPolicy/$explain'], ...routes, ...heads];
}

/** Makes a request of a random route, of records that are there or not. */
export function randomRequest(random: Random, places: Places): MadeRequest {
  const [method, template] = random.pick(templates);
  const path = template.replace(':id', () => withEscapes(random, randomId(random, template, places)));
  const hasBody = random.below(12) === 0 ? !writes.has(method) : writes.has(method);
  const body = hasBody ? randomBody(random, template, places) : undefined;
  return {
    method,
    path,
    query: Array.from({ length: random.pick([0, 0, 1, 2, 3]) }, () => [
      random.pick(parameterNames),
      random.pick(['5', 'a', '', 'ä&']),
    ]),
    teams: Array.from({ length: random.pick([0, 1, 1, 2]) }, () => random.pick(headerValues)),
    body,
    contentType:
      body === undefined
        ? random.pick([undefined, undefined, 'application/json'])
        : contentTypeOf(random, method, body),
  };
}

function contentTypeOf(random: Random, method: string, body: unknown): string | undefined {
  if (random.below(20) === 0) return random.pick(['text/plain', 'application/json; charset=latin1']);
  if (method !== 'PATCH')
    return random.pick(['application/json', 'application/json', 'application/yaml', 'application/json-patch+json']);
  const patches = ['application/merge-patch+json', 'application/json', 'application/yaml'] as const;
  return Array.isArray(body)
    ? random.pick(['application/json-patch+json', 'application/json-patch+json', ...patches])
    : random.pick(patches);
}

function randomId(random: Random, template: string, { users, groups, sessions }: Places): string {
  if (random.below(12) === 0) return random.pick(['a$explain', 'a/b', '007', '%41', 'x', '0', '99999999999999999999']);
  if (template.startsWith('/Group'))
    return random.below(3) === 0 ? random.pick(groupNames) : String(random.pick(groups));
  if (template.startsWith('/users')) return String(random.pick(users));
  if (template.startsWith('/Session')) return random.pick(sessions);
  if (template.startsWith('/Grant')) return `${String(random.pick(users))}.${random.pick(clients)}`;
  return random.pick(clients);
}

/** Writes some characters of a path segment as escapes that it needs not. */
function withEscapes(random: Random, id: string): string {
  const escape = (text: string): string => `%${text.charCodeAt(0).toString(16)}`;
  const needed = encodeURIComponent(id);
  const plain = needed.startsWith('%24') && random.below(2) === 0 ? `$${needed.slice(3)}` : needed;
  if (random.below(5) !== 0) return plain;
  return plain.replace(/^[A-Za-z0-9]/, escape);
}

function randomBody(random: Random, template: string, { users, groups }: Places): unknown {
  if (random.below(6) === 0)
    return random.pick([
      [],
      {},
      [{ op: 'replace', path: '/name', value: 'new' }],
      [{ op: 'add', path: '/secret', value: 'chosen' }],
      [{ op: 'replace', path: '', value: { name: 'n' } }],
      [1],
    ]);
  const some = (fields: object): object =>
    Object.fromEntries(Object.entries(fields).filter(() => random.below(2) === 0));
  if (template.startsWith('/Client')) {
    const id = random.pick(['target', 'orders', 'fresh']);
    return some({
      resourceType: 'Client',
      id,
      grant_types: random.pick([[], ['client_credentials']]),
      secret: random.pick(['chosen', null]),
      name: 'new',
      wrong: 1,
      scope: ['a'],
      active: false,
    });
  }
  if (template === '/AccessPolicy/$explain') {
    const asked = {
      'request-method': 'put',
      uri: `/users/${String(random.pick(users))}`,
      ...some({ body: { password: 'x' } }),
    };
    return { ...some({ subject: some({ client: 'orders', user: random.pick(users) }) }), request: asked };
  }
  if (template.startsWith('/AccessPolicy')) {
    return some({
      id: random.pick(['target', 'fresh']),
      engine: 'allow',
      description: 'new',
      link: [{ resourceType: 'Client', id: 'nobody' }],
      matcho: {},
    });
  }
  if (template.startsWith('/Session'))
    return some({ active: false, status: random.pick(['revoked', 'active']), scope: 'x' });
  if (template.startsWith('/Group')) return some({ name: random.pick(groupNames), description: 'new' });
  return some({
    email: random.pick(['ann@mail.example', 'new@mail.example', 'no email']),
    password: random.pick(['correct horse', 'another long one', 'x']),
    data: random.pick(['{"a": 1}', '{"a": 2}', { a: 1 }, null]),
    status: random.pick(['active', 'inactive', null]),
    'group-ids': random.pick([[], [random.pick(groups)]]),
    id: random.pick(users),
  });
}
