import { readFileSync } from 'node:fs';
import Type from 'typebox';
import type { Static } from 'typebox';
import Value from 'typebox/value';
import { parse } from 'yaml';
import { RESPONSE_TYPES } from '../../api/oauth/authorization/request/response-type.ts';
import { parametersSchema, TOKEN_PARAMETERS } from '../../api/oauth/token/parameters.ts';
import type { JsonObject } from '../../crds/path.ts';
import { errors, granted, inEachFormat, json, page, response } from './responses.ts';
import type { Shape } from './responses.ts';
import { schemaRef } from './schemas.ts';

/** Ways to authenticate at an operation. */
const SECURITY = {
  none: [],
  token: [{ token: [] }],
  'user-token': [{ token: [] }, { queryToken: [] }],
  client: [{ client: [] }, {}],
} as const;

/** One operation: everything about a route that neither the route table nor a schema says. */
export interface Operation {
  /** Name in generated clients. */
  readonly id: string;
  readonly summary: string;
  readonly tag?: string;
  /** Absent: a token for resources, otherwise nothing. */
  readonly access?: keyof typeof SECURITY;
  readonly parameters?: readonly JsonObject[];
  /** Content of the request's body, by content type. */
  readonly body?: JsonObject;
  /** By status, without errors. */
  readonly responses: JsonObject;
  /** Statuses of errors besides those of every operation. */
  readonly errors?: readonly number[];
}

/** Returns an operation as the document has it. */
export function operationObject(path: string, shape: Shape, operation: Operation): JsonObject {
  const { id, summary, tag = tagOf(path, shape), parameters = [], body, responses } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: SECURITY[operation.access ?? (shape === 'Resource' || shape === 'Check' ? 'token' : 'none')],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { content: body } }),
    responses: { ...errors(shape, ...(operation.errors ?? [])), ...responses },
  };
}

function tagOf(path: string, shape: Shape): string {
  if (shape === 'Page') return 'Pages';
  if (shape === 'OAuth') return path.startsWith('/auth/') ? 'OAuth' : 'Discovery';
  const [, first = 'Box'] = /^\/([A-Za-z]+)/.exec(path) ?? [];
  return first === 'account' ? 'Account' : first;
}

const text = { type: 'string' };
const schemaOrName = Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())]);
const names = Type.Array(Type.String());

/** A row of operations.yaml. */
const Row = Type.Object(
  {
    id: Type.String(),
    summary: Type.String(),
    access: Type.Optional(Type.Enum(['token', 'client'])),
    query: Type.Optional(names),
    path: Type.Optional(Type.Record(Type.String(), Type.String())),
    parameters: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
    form: Type.Optional(Type.Union([names, Type.Literal('token')])),
    example: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    body: Type.Optional(Type.String()),
    lines: Type.Optional(Type.String()),
    pages: Type.Optional(Type.Array(Type.Enum([200, 302, 303, 422]))),
    200: Type.Optional(Type.String()),
    json: Type.Optional(schemaOrName),
    formats: Type.Optional(schemaOrName),
    content: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    headers: Type.Optional(names),
    204: Type.Optional(Type.String()),
    422: Type.Optional(Type.String()),
    errors: Type.Optional(Type.Array(Type.Integer())),
  },
  { additionalProperties: false },
);

/** Responses of pages, by status. */
const PAGES = {
  200: response('The page.', page, ['Content-Language', 'X-Frame-Options', 'Set-Cookie']),
  302: response('Back to the app, with the authorization response.', undefined, ['Location', 'Set-Cookie']),
  303: response('Go on at another address.', undefined, ['Location', 'Set-Cookie']),
  422: response('The page, with what is wrong.', page, ['Content-Language', 'X-Frame-Options', 'Set-Cookie']),
};

/** The operation of each route but those of collections. A route without one fails `make generate`, and a test. */
export const operations: Readonly<Record<string, Operation>> = readOperations();

function readOperations(): Readonly<Record<string, Operation>> {
  const rows: unknown = parse(readFileSync(new URL('./operations.yaml', import.meta.url), 'utf8'));
  if (!Value.Check(Type.Record(Type.String(), Row), rows))
    throw new TypeError('operations.yaml has a row of another form');
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, operationOf(row)]));
}

function operationOf(row: Static<typeof Row>): Operation {
  const { id, summary, access, errors: statuses = [], query = [], path = {}, parameters = [] } = row;
  const body = bodyOf(row);
  return {
    ...{ id, summary, errors: statuses, responses: responsesOf(row) },
    ...(access === undefined ? {} : { access }),
    ...(body === undefined ? {} : { body }),
    parameters: [
      ...Object.entries(path).map(([name, description]) => inPath(name, description)),
      ...query.map((name) => ({ name, in: 'query', schema: schemaOfParameter(name) })),
      ...parameters,
    ],
  };
}

function schemaOfParameter(name: string): JsonObject {
  if (name === 'response_type') return { type: 'string', enum: RESPONSE_TYPES };
  return { type: name === 'max_age' ? 'integer' : 'string' };
}

/** Returns the body of a request: a form of a page, or of an OAuth endpoint, which takes JSON as well. */
function bodyOf({ form, example, body, lines }: Static<typeof Row>): JsonObject | undefined {
  if (body !== undefined) return inEachFormat(body);
  if (lines !== undefined) return { 'application/x-ndjson': { schema: schemaRef(lines) } };
  if (form === undefined) return undefined;
  if (example !== undefined) {
    const content = { schema: parametersSchema(form === 'token' ? TOKEN_PARAMETERS : form), example };
    return { 'application/x-www-form-urlencoded': content, 'application/json': content };
  }
  const properties = Object.fromEntries([form].flat().map((name) => [name, text]));
  return { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties } } };
}

function responsesOf(row: Static<typeof Row>): JsonObject {
  const { pages = [], headers = [], 200: success, 204: empty, 422: faults } = row;
  return {
    ...Object.fromEntries(pages.map((status) => [String(status), PAGES[status]])),
    ...(success === undefined ? {} : { 200: response(success, contentOf(row), headers) }),
    ...(empty === undefined ? {} : { 204: response(empty) }),
    ...(faults === undefined ? {} : { 422: userFaults(faults) }),
  };
}

function contentOf({ json: inJson, formats, content }: Static<typeof Row>): JsonObject | undefined {
  if (inJson !== undefined) return json(inJson);
  return formats === undefined ? content : inEachFormat(formats);
}

const forwarded = ['X-Original-Method', 'X-Original-URI', 'X-Forwarded-Method', 'X-Forwarded-Uri', 'X-Forwarded-Host'];

/** The operation of the decision point for gateways, which takes every method, at its path and below. */
export const checkOperation: Omit<Operation, 'id'> = {
  tag: 'Gateways',
  summary: 'Decides about a request to an app behind a gateway.',
  parameters: forwarded.map((name) => ({ name, in: 'header', schema: text })),
  responses: { 200: granted() },
  errors: [401, 403],
};

/** Returns a parameter of a path. */
export function inPath(name: string, description: string): JsonObject {
  return { name, in: 'path', required: true, description, schema: text };
}

/** Returns the response with the faults of a user, which have a form of their own; those of the request have not. */
export function userFaults(description: string): JsonObject {
  return response(description, json({ anyOf: [schemaRef('UserFaults'), schemaRef('OperationOutcome')] }));
}
