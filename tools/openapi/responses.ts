import type { JsonObject } from '../../crds/path.ts';
import { schemaRef } from './schemas.ts';

/** Headers of every response that a gateway passes on to the callers of an app, whose host has policies of its own. */
const PASSED_ON = [
  ...['X-Request-Id', 'Cache-Control', 'X-Content-Type-Options', 'Referrer-Policy'],
  ...['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', 'Vary'],
];

/** Headers of every other response, in their order. */
const ALWAYS = PASSED_ON.toSpliced(3, 0, 'Content-Security-Policy', 'Strict-Transport-Security');

/** Returns a response as the document has it; `headers` are those besides the ones of every response. */
export function response(description: string, content?: JsonObject, headers: readonly string[] = []): JsonObject {
  return responseWith([...ALWAYS, ...headers], description, content);
}

/** Returns the response of the decision point that grants a request. */
export function granted(): JsonObject {
  const about = ['Client', 'User', 'Scope', 'Session', 'Policy', 'Email', 'Email-Verified', 'Groups'];
  return responseWith([...PASSED_ON, ...about.map((name) => `X-Auth-${name}`)], 'A policy grants the request.');
}

function responseWith(headers: readonly string[], description: string, content?: JsonObject): JsonObject {
  const refs = headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return { description, headers: Object.fromEntries(refs), ...(content === undefined ? {} : { content }) };
}

/** Returns the content of a resource: a schema, or the name of one, in each format. */
export function inEachFormat(schema: string | JsonObject): JsonObject {
  const content = { schema: typeof schema === 'string' ? schemaRef(schema) : schema };
  const formats = ['application/json', 'application/yaml', 'text/yaml', 'application/x-yaml'];
  return Object.fromEntries(formats.map((format) => [format, content]));
}

/** Returns the content of an answer in JSON: a schema, or the name of one. */
export function json(schema: string | JsonObject): JsonObject {
  return { 'application/json': { schema: typeof schema === 'string' ? schemaRef(schema) : schema } };
}

/** Content of a page for people. */
export const page: JsonObject = { 'text/html': { schema: { type: 'string' } } };

/** The meaning of each error, and the headers that it adds, by status. */
const ERRORS: Readonly<Record<number, readonly [string, ...string[]]>> = {
  400: ['The request is malformed.'],
  401: ['The credential is missing, or not valid.', 'WWW-Authenticate'],
  403: ['No access policy grants the request.', 'WWW-Authenticate'],
  404: ['There is nothing at this address.'],
  405: ['The address takes other methods.', 'Allow'],
  406: ['None of the offered formats is accepted.'],
  409: ['The state of the resource does not allow it.'],
  412: ['The resource has another version.'],
  413: ['The body is too large.'],
  415: ['The content type is not known here.', 'Accept', 'Accept-Encoding', 'Accept-Patch', 'Accept-Post'],
  422: ['The body is not valid, with every fault listed, or the box has used up a quota.', 'Retry-After'],
  429: ['Too many requests, or too many failures.', 'Retry-After'],
  503: ['The service cannot answer now.', 'Retry-After', 'Refresh'],
};

/** Shape of errors at an endpoint. */
export type Shape = keyof typeof SHAPES;

// A script may be the one who reads a page.
const SHAPES = {
  Resource: { content: json('OperationOutcome'), headers: [] },
  Check: { content: json('OperationOutcome'), headers: [] },
  OAuth: { content: json('OAuthError'), headers: ['Pragma'] },
  Page: {
    content: { ...page, ...json('OAuthError') },
    headers: ['Content-Language', 'X-Frame-Options', 'Pragma', 'Set-Cookie'],
  },
  Any: {
    content: { ...page, ...json({ anyOf: [schemaRef('OAuthError'), schemaRef('OperationOutcome')] }) },
    headers: ['Content-Language', 'X-Frame-Options', 'Pragma'],
  },
} as const satisfies Record<string, { content: object; headers: readonly string[] }>;

/** Returns every shared error of the document, by its name. */
export function sharedErrors(): Record<string, JsonObject> {
  return Object.fromEntries(
    Object.entries(SHAPES).flatMap(([shape, { content, headers }]) =>
      Object.entries(ERRORS).map(([status, [description, ...own]]) => {
        const always = shape === 'Check' ? PASSED_ON : ALWAYS;
        return [`${shape}${status}`, responseWith([...always, ...headers, ...own], description, content)];
      }),
    ),
  );
}

/** Returns references to shared errors, by status: to those that every endpoint has, and to further ones. */
export function errors(shape: Shape, ...more: readonly number[]): Record<string, JsonObject> {
  return Object.fromEntries([400, 404, 429, 503, ...more].map((status) => [String(status), errorRef(shape, status)]));
}

/** Returns the reference to a shared error. */
export function errorRef(shape: Shape, status: number): JsonObject {
  return { $ref: `#/components/responses/${shape}${String(status)}` };
}
