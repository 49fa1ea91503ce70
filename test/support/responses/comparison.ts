import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { parse } from 'yaml';
import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { describedResponses } from './described.ts';
import type { DescribedResponse, DescribedResponses } from './described.ts';

/** A response as the API sends it. */
export interface SentResponse {
  readonly method: string;
  /** Below the box, without its query. */
  readonly path: string;
  readonly status: number;
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  /** The text of the body; undefined if it is not compared. */
  readonly body: string | undefined;
  /** True if it has a body, which a HEAD is not sent. */
  readonly hasBody: boolean;
}

/** The described response that a response is one of, and its differences. */
export interface Compared {
  /** Undefined if none is described. */
  readonly name: string | undefined;
  readonly faults: readonly string[];
}

/** Headers of the transport, which every HTTP response may have (RFC 9110 §6.6.1, RFC 9112). */
const TRANSPORT = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-type']);

/** Returns the function that compares responses with an OpenAPI document. */
export function comparisonWith(document: JsonObject): {
  readonly described: DescribedResponses;
  readonly compare: (sent: SentResponse) => Compared;
} {
  const described = describedResponses(document);
  const matching = createMatching(described.schemas);
  const headersSeen = new Map<string, readonly string[]>();

  function headerFaults(response: DescribedResponse, headers: readonly string[]): readonly string[] {
    const names = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    const signature = `${response.name} ${names.join()}`;
    const known = headersSeen.get(signature);
    if (known !== undefined) return known;
    const unknown = names.filter((name) => !response.headers.has(name) && !TRANSPORT.has(name));
    const missing = Array.from(response.headers, ([name, isRequired]) =>
      isRequired && !names.includes(name) ? [name] : [],
    ).flat();
    const faults = [
      ...unknown.map((name) => `has the header ${name}, which is not described`),
      ...missing.map((name) => `lacks the header ${name}`),
    ];
    headersSeen.set(signature, faults);
    return faults;
  }

  function bodyFaults({ content }: DescribedResponse, { headers, body, hasBody }: SentResponse): readonly string[] {
    if (!hasBody) return content === undefined ? [] : ['lacks a body'];
    const type =
      headers[headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type') + 1];
    const essence = (type ?? '').replace(/;.*/, '');
    const schema = content?.[essence];
    if (schema === undefined) return [`has a body of the type ${essence}, which is not described`];
    if (body === undefined || essence.startsWith('text/')) return [];
    return matching(schema, essence === 'application/json' ? JSON.parse(body) : parse(body));
  }

  return {
    described,
    compare(sent) {
      const response = described.find(sent.method, sent.path, sent.status);
      if (response === undefined) return { name: undefined, faults: ['is not described'] };
      return { name: response.name, faults: [...headerFaults(response, sent.headers), ...bodyFaults(response, sent)] };
    },
  };
}

/** Returns the function that finds what of a value a schema does not describe. */
export function createMatching(
  schemas: Readonly<Record<string, JsonObject>>,
): (schema: JsonObject, value: unknown) => readonly string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: false, formats: { 'date-time': fullFormats['date-time'] } });
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(named(schema), `${name}.json`);
  const compiled = new Map<JsonObject, ValidateFunction>();
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile(named(schema));
    compiled.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message = '', params }) =>
        `has a body that is not described: ${instancePath === '' ? 'the whole' : instancePath} ${message} (${JSON.stringify(params)})`,
    );
  };
}

/** Returns a schema whose references name those that were added. */
function named(schema: JsonObject): JsonObject {
  const value: unknown = JSON.parse(JSON.stringify(schema).replaceAll(/"#\/components\/schemas\/(\w+)"/g, '"$1.json"'));
  return isObject(value) ? value : {};
}
