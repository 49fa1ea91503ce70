import type { JsonObject } from '../../crds/path.ts';
import { schemaRef } from './components.ts';

/** A response of an operation; `headers` are those besides the ones of every response. */
export interface Described {
  readonly description: string;
  readonly headers?: readonly HeaderName[];
  readonly content?: Readonly<Record<string, JsonObject>>;
  /** True: a gateway passes it on to the callers of an app, whose host has policies of its own. */
  readonly isPassedOn?: boolean;
}

/** A header that some responses have. */
export type HeaderName = keyof typeof HEADERS;

const text = (description: string, required = false): JsonObject => ({
  description,
  ...(required ? { required } : {}),
  schema: { type: 'string' },
});

/** Headers of responses, by name. */
export const HEADERS = {
  'X-Request-Id': text('The ID of the request, which the log has too.', true),
  'Cache-Control': text('`no-store`, except for the public documents.', true),
  'X-Content-Type-Options': text('`nosniff`.', true),
  'Content-Security-Policy': text('What a page may load.', true),
  'Strict-Transport-Security': text('HTTPS only; where the request came by TLS.'),
  'Referrer-Policy': text('`no-referrer`.', true),
  'Access-Control-Allow-Origin': text('The origin, if the box or a client of it lists it; `*` for public documents.'),
  'Access-Control-Expose-Headers': text('Headers that a script of that origin may read.'),
  'Access-Control-Allow-Methods': text('Methods that a script of another origin may use.'),
  'Access-Control-Allow-Headers': text('Headers that a script of another origin may send.'),
  'Access-Control-Max-Age': text('Seconds for which a browser may keep the answer.'),
  Vary: text('Request headers that the response depends on.'),
  Pragma: text('`no-cache`.'),
  ETag: text('The version of the resource.'),
  Location: text('The address of the new resource, or the one to go to.'),
  Link: text('The pages of the list (RFC 8288).'),
  'X-Total-Count': text('The number of matches, exact up to 10,000.'),
  'Retry-After': text('Seconds after which the same request may succeed.'),
  'WWW-Authenticate': text('How to authenticate.'),
  Allow: text('The methods that can be used here.', true),
  Accept: text('The content types that a body may have.'),
  'Accept-Encoding': text('`identity`: a body must not be compressed.'),
  'Accept-Patch': text('The content types that a patch may have.'),
  'Accept-Post': text('The content types that a body may have.'),
  'Set-Cookie': text('The cookie of the browser.'),
  'Content-Language': text('The language of the page.'),
  'X-Frame-Options': text('`DENY`.'),
  'Content-Encoding': text('The coding of the file, of those that the browser accepts.'),
  'X-Managed-By': text('The object that declares the resource.'),
  'X-Auth-Client': text('The client of the token.'),
  'X-Auth-User': text('The ID of the user; `-` if there is none.'),
  'X-Auth-Scope': text('The scopes of the token; `-` if it has none.'),
  'X-Auth-Session': text('The ID of the session.'),
  'X-Auth-Policy': text('The policy that granted the request.'),
  'X-Auth-Email': text('The email of the user, with the scope `email`.'),
  'X-Auth-Email-Verified': text('Whether the email is verified: `true`, `false` or `unknown`.'),
  'X-Auth-Groups': text('The groups of the user, with the scope `groups`; `-` if there are none.'),
} as const satisfies Record<string, JsonObject>;

/** Headers that set a policy for the host of a response. */
const OF_HOST = ['Content-Security-Policy', 'Strict-Transport-Security'];

/** Headers of every response. */
const ALWAYS = [
  ...['X-Request-Id', 'Cache-Control', 'X-Content-Type-Options', 'Content-Security-Policy'],
  ...['Strict-Transport-Security', 'Referrer-Policy', 'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'],
  'Vary',
];

/** Returns a response as the document has it. */
export function responseObject({ description, headers = [], content, isPassedOn = false }: Described): JsonObject {
  const names = [...ALWAYS.filter((name) => !isPassedOn || !OF_HOST.includes(name)), ...headers];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(content === undefined ? {} : { content }),
  };
}

/** Content types of resources. */
const FORMATS = ['application/json', 'application/yaml', 'text/yaml', 'application/x-yaml'];

/** Returns the content of a resource: the same value in each format. */
export function inEachFormat(schema: JsonObject): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(FORMATS.map((format) => [format, { schema }]));
}

/** Returns the content of an answer in JSON. */
export function json(schema: JsonObject): Readonly<Record<string, JsonObject>> {
  return { 'application/json': { schema } };
}

/** Content of a page for people. */
export const page: Readonly<Record<string, JsonObject>> = { 'text/html': { schema: { type: 'string' } } };

const outcome = json(schemaRef('OperationOutcome'));
const oauth = json(schemaRef('OAuthError'));

const MEANING = {
  400: 'The request is malformed.',
  401: 'The credential is missing, or not valid.',
  403: 'No access policy grants the request.',
  404: 'There is nothing at this address.',
  405: 'The address takes other methods.',
  406: 'None of the offered formats is accepted.',
  409: 'The state of the resource does not allow it.',
  412: 'The resource has another version.',
  413: 'The body is too large.',
  415: 'The content type is not known here.',
  422: 'The body is not valid, with every fault listed, or the box has used up a quota.',
  429: 'Too many requests, or too many failures.',
  503: 'The service cannot answer now.',
} as const;

/** A status of an error. */
export type ErrorStatus = keyof typeof MEANING;

const ofStatus: Readonly<Partial<Record<ErrorStatus, readonly HeaderName[]>>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  415: ['Accept', 'Accept-Encoding', 'Accept-Patch', 'Accept-Post'],
  422: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Shape of errors at an endpoint. */
export type Shape = 'Resource' | 'Check' | 'OAuth' | 'Page' | 'Any';

const CONTENT = {
  Resource: outcome,
  Check: outcome,
  OAuth: oauth,
  // A script may be the one who reads it.
  Page: { ...page, ...oauth },
  Any: { ...page, ...json({ anyOf: [schemaRef('OAuthError'), schemaRef('OperationOutcome')] }) },
} as const satisfies Record<Shape, object>;

const SHAPE_HEADERS = {
  Resource: [],
  Check: [],
  OAuth: ['Pragma'],
  Page: ['Content-Language', 'X-Frame-Options', 'Pragma', 'Set-Cookie'],
  Any: ['Content-Language', 'X-Frame-Options', 'Pragma'],
} as const satisfies Record<Shape, readonly HeaderName[]>;

/** Returns every shared error of the document, by its name. */
export function sharedErrors(): Record<string, JsonObject> {
  const shapes: readonly Shape[] = ['Resource', 'Check', 'OAuth', 'Page', 'Any'];
  return Object.fromEntries(
    shapes.flatMap((shape) =>
      Object.entries(MEANING).map(([status, description]) => {
        const own = Object.entries(ofStatus).find(([known]) => known === status)?.[1] ?? [];
        const headers = [...SHAPE_HEADERS[shape], ...own];
        const isPassedOn = shape === 'Check';
        return [`${shape}${status}`, responseObject({ description, headers, content: CONTENT[shape], isPassedOn })];
      }),
    ),
  );
}

/** Returns references to shared errors, by status. */
export function errors(shape: Shape, statuses: readonly ErrorStatus[]): Record<string, JsonObject> {
  return Object.fromEntries(statuses.map((status) => [String(status), errorRef(shape, status)]));
}

/** Returns the reference to a shared error. */
export function errorRef(shape: Shape, status: ErrorStatus): JsonObject {
  return { $ref: `#/components/responses/${shape}${String(status)}` };
}
