import { isObject } from './path.ts';
import type { TSchema } from 'typebox';

/** A schema as plain data: the keywords that our programs read, and all others unchanged. */
export interface SchemaNode {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  /** Schema of the values of a map; false where no other members are allowed. */
  readonly additionalProperties?: SchemaNode | false;
}

/** Returns a schema without TypeBox's own members. Throws a TypeError for one that no CRD could hold. */
export function schemaNode(schema: TSchema): SchemaNode {
  const plain: unknown = JSON.parse(JSON.stringify(schema));
  if (!isNode(plain)) throw new TypeError('not a structural schema');
  return plain;
}

function isNode(value: unknown): value is SchemaNode {
  if (!isObject(value) || typeof value['type'] !== 'string') return false;
  const { properties, items, additionalProperties, required } = value;
  return (
    (properties === undefined || (isObject(properties) && Object.values(properties).every(isNode))) &&
    (items === undefined || isNode(items)) &&
    (additionalProperties === undefined || additionalProperties === false || isNode(additionalProperties)) &&
    (required === undefined || Array.isArray(required))
  );
}
