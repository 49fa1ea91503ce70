import { accessPolicy } from '../../api/records/access-policy.ts';
import { auditEvent } from '../../api/records/audit-event.ts';
import { client } from '../../api/records/client.ts';
import { grant } from '../../api/records/grant.ts';
import { group } from '../../api/records/group.ts';
import type { SearchDefinition } from '../../api/records/search/parameters.ts';
import { session } from '../../api/records/session.ts';
import { user } from '../../api/records/user.ts';
import type { JsonObject } from '../../crds/path.ts';
import { userFaults } from './operations.ts';
import type { Operation } from './operations.ts';
import { inEachFormat, response } from './responses.ts';
import { eitherPart, schemaRef } from './schemas.ts';

/** Parts of a collection that its operations are made of. */
interface DescribedCollection {
  readonly kind: string;
  readonly path: string;
  readonly search: Pick<SearchDefinition<unknown>, 'controls' | 'elements' | 'sorts'> & {
    readonly filters: object;
    readonly ranges: object;
  };
}

/** Differences between collections. */
interface CollectionOptions {
  /** Schema of the body of a POST; of a PUT, unless `changed` is given. */
  readonly submitted?: string;
  readonly changed?: string;
  /** Schema of a record in a list, where that is another one. */
  readonly listed?: string;
  /** True if a PUT creates what is not there. */
  readonly creates?: boolean;
  /** True if a missing record is a 404 for DELETE too. */
  readonly strict?: boolean;
  /** The methods that can conflict with the state of a record. */
  readonly conflicts?: readonly string[];
}

/** Conditional requests. */
const CONDITIONS = ['If-Match', 'If-None-Match'].map((name) => ({
  name,
  in: 'header',
  description: 'Entity tags, with their quotes (RFC 9110 §13.1).',
  schema: { type: 'string' },
}));

const EACH = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** The operations of collections, by method and path: those that the route table has are used. */
export const collectionOperations: Readonly<Record<string, Operation>> = {
  ...operationsOf(client, { submitted: 'SubmittedClient', creates: true, conflicts: EACH }),
  ...operationsOf(accessPolicy, { submitted: 'SubmittedAccessPolicy', creates: true, conflicts: EACH }),
  ...operationsOf(session, { submitted: 'SessionState', conflicts: ['PUT', 'PATCH'] }),
  ...operationsOf(group, { submitted: 'SubmittedGroup', conflicts: EACH }),
  ...operationsOf(grant, {}),
  ...operationsOf(auditEvent, {}),
  ...operationsOf(user, {
    ...{ submitted: 'NewUser', changed: 'ChangedUser', listed: 'ListedUser' },
    ...{ strict: true, conflicts: ['PUT', 'DELETE'] },
  }),
};

function operationsOf(
  { kind, path, search }: DescribedCollection,
  options: CollectionOptions,
): Record<string, Operation> {
  const {
    submitted = kind,
    changed = submitted,
    listed = kind,
    creates = false,
    strict = false,
    conflicts = [],
  } = options;
  const common = { tag: kind, ...(kind === 'User' ? ({ access: 'user-token' } as const) : {}) };
  const shown = inEachFormat(kind);
  const faults = kind === 'User' ? { 422: userFaults('The user is not valid: every fault is listed.') } : {};
  const refused = (method: string) => (conflicts.includes(method) ? [409] : []);
  const reading = [401, 403, 406];
  const writing = [...reading, 413, 415, 422];
  const written = creates ? ['ETag', 'Warning'] : ['ETag'];
  const created = { 201: response(`The new ${kind}.`, shown, [...written, 'Location']) };
  const now = response(`The ${kind} now.`, shown, written);
  const isPlain = search.controls?.includes('_result') === false;
  const array = { type: 'array', items: isPlain ? schemaRef(listed) : eitherPart(listed) };
  const page = inEachFormat(isPlain ? array : { oneOf: [schemaRef(`${kind}Bundle`), array] });
  const takesElements = search.controls?.includes('_elements') !== false;
  const elements = takesElements
    ? searchParameters({ ...search, controls: ['_elements'], filters: {}, ranges: {} })
    : [];
  // A 304 has the headers of the 200 (RFC 9110 §15.4.5).
  const headers = kind === 'Session' ? ['ETag'] : ['ETag', 'X-Managed-By'];
  return {
    [`GET ${path}`]: {
      ...{ ...common, id: `search${kind}`, summary: `Lists resources of the type ${kind}, a page at a time.` },
      parameters: searchParameters(search),
      responses: { 200: response('One page.', page, ['Link', 'X-Total-Count']) },
      errors: reading,
    },
    [`POST ${path}`]: {
      ...{ ...common, id: `create${kind}`, summary: `Creates a ${kind}.`, body: inEachFormat(submitted) },
      responses: { ...created, ...faults },
      errors: [...writing, ...refused('POST')],
    },
    [`GET ${path}/:id`]: {
      ...{ ...common, id: `read${kind}`, summary: `Returns a ${kind}.`, parameters: [...elements, ...CONDITIONS] },
      responses: {
        200: response(`The ${kind}.`, takesElements ? inEachFormat(eitherPart(kind)) : shown, headers),
        304: response('The caller has this version.', undefined, headers),
      },
      errors: [...reading, 412],
    },
    [`PUT ${path}/:id`]: {
      ...{ ...common, id: `put${kind}`, parameters: CONDITIONS, body: inEachFormat(changed) },
      summary: creates ? `Replaces a ${kind}, or creates it.` : `Changes a ${kind}.`,
      responses: { 200: now, ...(creates ? created : {}), ...faults },
      errors: [...writing, 412, ...refused('PUT')],
    },
    [`PATCH ${path}/:id`]: {
      ...{ ...common, id: `patch${kind}`, summary: `Changes some fields of a ${kind}.`, parameters: CONDITIONS },
      body: {
        'application/merge-patch+json': { schema: schemaRef('MergePatch') },
        'application/json-patch+json': { schema: schemaRef('JsonPatch') },
        ...inEachFormat('MergePatch'),
      },
      responses: { 200: now },
      errors: [...writing, 412, ...refused('PATCH')],
    },
    [`DELETE ${path}/:id`]: {
      ...{ ...common, id: `delete${kind}`, parameters: CONDITIONS },
      summary: kind === 'Session' ? 'Revokes a session; its record stays.' : `Deletes a ${kind}.`,
      responses: {
        200: response(`The ${kind} as it was.`, shown),
        ...(strict ? {} : { 204: response('There was none.') }),
      },
      errors: [...reading, 412, ...refused('DELETE')],
    },
  };
}

function searchParameters({ controls, filters, ranges, elements, sorts }: DescribedCollection['search']): JsonObject[] {
  const query = (name: string, schema: object, description?: string): JsonObject => ({
    name,
    in: 'query',
    ...(description === undefined ? {} : { description }),
    schema,
  });
  const known: Readonly<Record<string, object>> = {
    _count: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
    _page: { type: 'string', description: 'From a link to a page; it is not made by hand.' },
    _sort: { type: 'string', enum: Object.keys(sorts).flatMap((name) => [name, `-${name}`]) },
    _elements: { type: 'string', description: `A list with commas of: ${[...elements].join(', ')}.` },
    _total: { type: 'string', enum: ['none', 'estimate', 'accurate'], default: 'estimate' },
    _result: { type: 'string', enum: ['bundle', 'array'], default: 'bundle' },
  };
  const times = 'A time, with `ge`, `gt`, `le` or `lt` in front; twice for a range.';
  return [
    ...(controls ?? Object.keys(known)).map((name) => query(name, known[name] ?? {})),
    ...Object.keys(filters).map((name) => query(name, { type: 'string' }, `Filter by \`${name}\`.`)),
    ...Object.keys(ranges).map((name) => ({
      ...query(name, { type: 'array', items: { type: 'string' } }, times),
      explode: true,
    })),
  ];
}
