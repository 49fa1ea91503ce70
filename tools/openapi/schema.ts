import type { TSchema } from 'typebox';
import { isList, isObject } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';

/** Keywords of custom resource definitions, which mean nothing in a JSON Schema. */
const FOREIGN = 'x-kubernetes-';

/** Returns a schema as plain JSON Schema 2020-12, the dialect of OpenAPI 3.1. Throws a TypeError for another value. */
export function plainSchema(schema: TSchema): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(schema));
  const converted = converting(plain);
  if (isObject(converted)) return converted;
  throw new TypeError('not a schema');
}

function converting(value: unknown): unknown {
  if (isList(value)) return value.map(converting);
  if (!isObject(value)) return value;
  const { nullable, ...members } = value;
  const isNullable = nullable === true && typeof members['type'] === 'string';
  const kept = Object.entries(members).filter(([name]) => !name.startsWith(FOREIGN));
  const entries = kept.map(([name, member]): [string, unknown] => [name, converting(member)]);
  return Object.fromEntries([...entries, ...(isNullable ? [['type', [members['type'], 'null']]] : [])]);
}

/** Returns a schema of an object of which any members may be missing except its type and its ID. */
export function partOf(schema: JsonObject, description: string): JsonObject {
  const required = (isList(schema['required']) ? schema['required'] : []).filter(
    (name) => name === 'resourceType' || name === 'id',
  );
  return { ...schema, description, required };
}
