import type { SearchDefinition } from '../../api/records/search/parameters.ts';
import type { JsonObject } from '../../crds/path.ts';
import { eitherPart, schemaRef } from './components.ts';
import type { Operation } from './operation.ts';
import { errors, inEachFormat, json, responseObject } from './responses.ts';
import type { ErrorStatus } from './responses.ts';

/** Parts of a collection that its operations are made of. */
export interface DescribedCollection {
  readonly kind: string;
  readonly path: string;
  readonly search: Pick<SearchDefinition<unknown>, 'controls' | 'elements' | 'sorts'> & {
    readonly filters: object;
    readonly ranges: object;
  };
  readonly create?: unknown;
  readonly put?: unknown;
  readonly patch?: unknown;
  readonly remove?: unknown;
}

/** Differences between collections. */
export interface CollectionOptions {
  /** Schema of the body of a POST; of a PUT, unless `changed` is given. */
  readonly submitted?: string;
  readonly changed?: string;
  /** Schema of a record in a list, where that is another one. */
  readonly listed?: string;
  /** True if a PUT creates what is not there. */
  readonly creates?: boolean;
  /** True if a missing record is a 404 for DELETE too. */
  readonly strict?: boolean;
  /** Statuses that the methods of this collection never give, by operation. */
  readonly conflicts: Readonly<Partial<Record<'POST' | 'PUT' | 'PATCH' | 'DELETE', boolean>>>;
}

const READ: readonly ErrorStatus[] = [400, 401, 403, 404, 406, 429, 503];
const WRITE: readonly ErrorStatus[] = [400, 401, 403, 404, 406, 413, 415, 422, 429, 503];

/** Returns the operations of a collection, by method and path. */
export function collectionOperations(
  collection: DescribedCollection,
  options: CollectionOptions,
): Record<string, Operation> {
  const { kind, path, create, put, patch, remove } = collection;
  const one = `${path}/:id`;
  return {
    [`GET ${path}`]: searching(collection, options),
    ...(create === undefined ? {} : { [`POST ${path}`]: creating(kind, options) }),
    [`GET ${one}`]: reading(collection),
    ...(put === undefined ? {} : { [`PUT ${one}`]: putting(kind, options) }),
    ...(patch === undefined ? {} : { [`PATCH ${one}`]: patching(kind, options) }),
    ...(remove === undefined ? {} : { [`DELETE ${one}`]: removing(kind, options) }),
  };
}

function searching({ kind, search }: DescribedCollection, { listed = kind }: CollectionOptions): Operation {
  const isPlain = search.controls?.includes('_result') === false;
  const array = { type: 'array', items: isPlain ? schemaRef(listed) : eitherPart(listed) };
  const schema = isPlain ? array : { oneOf: [schemaRef(`${kind}Bundle`), array] };
  return {
    id: `search${kind}`,
    tag: kind,
    summary: `Lists resources of the type ${kind}, a page at a time.`,
    access: accessTo(kind),
    parameters: searchParameters(search),
    responses: {
      200: responseObject({
        description: 'One page.',
        headers: ['Link', 'X-Total-Count'],
        content: inEachFormat(schema),
      }),
      ...errors('Resource', READ),
    },
  };
}

function searchParameters({ controls, filters, ranges, elements, sorts }: DescribedCollection['search']): JsonObject[] {
  const known = controls ?? Object.keys(CONTROLS);
  const query = (name: string, schema: object, description?: string): JsonObject => ({
    name,
    in: 'query',
    ...(description === undefined ? {} : { description }),
    schema,
  });
  const own: Readonly<Record<string, object>> = {
    _elements: { type: 'string', description: `A list with commas of: ${[...elements].join(', ')}.` },
    _sort: { type: 'string', enum: Object.keys(sorts).flatMap((name) => [name, `-${name}`]) },
  };
  return [
    ...known.map((name) => query(name, own[name] ?? CONTROLS[name] ?? {})),
    ...Object.keys(filters).map((name) => query(name, { type: 'string' }, `Filter by \`${name}\`.`)),
    ...Object.keys(ranges).map((name) => ({
      ...query(
        name,
        { type: 'array', items: { type: 'string' } },
        'A time, with `ge`, `gt`, `le` or `lt` in front; twice for a range.',
      ),
      explode: true,
    })),
  ];
}

const CONTROLS: Readonly<Record<string, object>> = {
  _count: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  _page: { type: 'string', description: 'From a link to a page; it is not made by hand.' },
  _sort: {},
  _elements: {},
  _total: { type: 'string', enum: ['none', 'estimate', 'accurate'], default: 'estimate' },
  _result: { type: 'string', enum: ['bundle', 'array'], default: 'bundle' },
};

function creating(kind: string, { submitted = kind, conflicts }: CollectionOptions): Operation {
  return {
    id: `create${kind}`,
    tag: kind,
    summary: `Creates a ${kind}.`,
    access: accessTo(kind),
    body: inEachFormat(schemaRef(submitted)),
    responses: {
      201: created(kind),
      ...errors('Resource', [...WRITE, ...(conflicts.POST === true ? ([409] as const) : [])]),
      ...userFaults(kind),
    },
  };
}

function reading({ kind, search }: DescribedCollection): Operation {
  const takesElements = search.controls?.includes('_elements') !== false;
  const parameters = takesElements
    ? searchParameters({ ...search, controls: ['_elements'], filters: {}, ranges: {} })
    : [];
  // A 304 has the headers of the 200 (RFC 9110 §15.4.5).
  const headers = kind === 'Session' ? (['ETag'] as const) : (['ETag', 'X-Managed-By'] as const);
  return {
    id: `read${kind}`,
    tag: kind,
    summary: `Returns a ${kind}.`,
    access: accessTo(kind),
    parameters: [...parameters, ...conditions('If-Match', 'If-None-Match')],
    responses: {
      200: responseObject({
        description: `The ${kind}.`,
        headers,
        content: inEachFormat(takesElements ? eitherPart(kind) : schemaRef(kind)),
      }),
      304: responseObject({ description: 'The caller has this version.', headers }),
      ...errors('Resource', [...READ, 412]),
    },
  };
}

function putting(kind: string, options: CollectionOptions): Operation {
  const { submitted = kind, changed = submitted, creates = false, conflicts } = options;
  return {
    id: `put${kind}`,
    tag: kind,
    summary: creates ? `Replaces a ${kind}, or creates it.` : `Changes a ${kind}.`,
    access: accessTo(kind),
    parameters: conditions('If-Match', 'If-None-Match'),
    body: inEachFormat(schemaRef(changed)),
    responses: {
      200: changedResponse(kind),
      ...(creates ? { 201: created(kind) } : {}),
      ...errors('Resource', [...WRITE, 412, ...(conflicts.PUT === true ? ([409] as const) : [])]),
      ...userFaults(kind),
    },
  };
}

function patching(kind: string, { conflicts }: CollectionOptions): Operation {
  return {
    id: `patch${kind}`,
    tag: kind,
    summary: `Changes some fields of a ${kind}.`,
    access: accessTo(kind),
    parameters: conditions('If-Match', 'If-None-Match'),
    body: {
      'application/merge-patch+json': { schema: schemaRef('MergePatch') },
      'application/json-patch+json': { schema: schemaRef('JsonPatch') },
      ...inEachFormat(schemaRef('MergePatch')),
    },
    responses: {
      200: changedResponse(kind),
      ...errors('Resource', [...WRITE, 412, ...(conflicts.PATCH === true ? ([409] as const) : [])]),
    },
  };
}

function removing(kind: string, { strict = false, conflicts }: CollectionOptions): Operation {
  return {
    id: `delete${kind}`,
    tag: kind,
    summary: kind === 'Session' ? 'Revokes a session; its record stays.' : `Deletes a ${kind}.`,
    access: accessTo(kind),
    parameters: conditions('If-Match', 'If-None-Match'),
    responses: {
      200: responseObject({ description: `The ${kind} as it was.`, content: inEachFormat(schemaRef(kind)) }),
      ...(strict ? {} : { 204: responseObject({ description: 'There was none.' }) }),
      ...errors('Resource', [...READ, 412, ...(conflicts.DELETE === true ? ([409] as const) : [])]),
    },
  };
}

function created(kind: string): JsonObject {
  const headers = ['ETag', 'Location'] as const;
  return responseObject({ description: `The new ${kind}.`, headers, content: inEachFormat(schemaRef(kind)) });
}

function changedResponse(kind: string): JsonObject {
  return responseObject({ description: `The ${kind} now.`, headers: ['ETag'], content: inEachFormat(schemaRef(kind)) });
}

/** Faults of a user have a form of their own; those of the request around it do not. */
function userFaults(kind: string): Record<string, JsonObject> {
  if (kind !== 'User') return {};
  const content = json({ anyOf: [schemaRef('UserFaults'), schemaRef('OperationOutcome')] });
  return { 422: responseObject({ description: 'The user is not valid: every fault is listed.', content }) };
}

function accessTo(kind: string): Operation['access'] {
  return kind === 'User' ? 'user-token' : 'token';
}

function conditions(...names: readonly string[]): JsonObject[] {
  return names.map((name) => ({
    name,
    in: 'header',
    description: 'Entity tags, with their quotes (RFC 9110 §13.1).',
    schema: { type: 'string' },
  }));
}
