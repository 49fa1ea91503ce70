import { wordHint } from '../../../crds/did-you-mean.ts';
import { isList, isObject, memberPath } from '../../../crds/path.ts';
import type { CompileCost } from './engine.ts';
import { linearRegExp } from '../linear-regexp.ts';
import type { LinearRegExp } from '../linear-regexp.ts';
import { PolicyFault } from './engine.ts';
import { partOf, requestFieldFault } from '../request-fields.ts';
import type { KnownObject } from '../request-fields.ts';
import { FORMATS, LONGEST_UNROLLED } from './json-schema-dialect.ts';
import type { Dialect } from './json-schema-dialect.ts';
import { STEPS_KEYWORD } from './json-schema-steps.ts';
import type { Weight } from './json-schema-steps.ts';

/** Most subschemas of one schema; those behind a reference are counted again. 150 compile in 15 to 20 ms. */
export const MOST_SUBSCHEMAS = 150;
/** Maximum depth of nested subschemas. */
export const DEEPEST_SCHEMA = 32;

type Schema = Readonly<Record<string, unknown>>;

/**
 * Checks what ajv does not report clearly or does not limit: unknown keywords and formats with their place, expressions
 * that RE2 does not take, references out of the schema, number of subschemas. Throws {@link PolicyFault}.
 */
export function checkSchema(schema: Schema, dialect: Dialect, cost: CompileCost): CheckedSchema {
  const walk: Walk = { dialect, cost, sizes: new Map(), references: new Map(), expressions: new Map() };
  const { $id: _named, ...unnamed } = schema;
  const checked = checkedObject(unnamed, { path: 'schema', pointer: '#', depth: 0, object: 'request' }, walk);
  checkReferences(walk, checked.size);
  return { schema: checked.schema, expressions: walk.expressions };
}

/** A schema that may be compiled. */
export interface CheckedSchema {
  /** Copy in which every subschema takes steps. */
  readonly schema: Schema;
  /** Every regular expression of the schema, compiled, by its text. */
  readonly expressions: ReadonlyMap<string, LinearRegExp>;
}

interface Walk {
  readonly dialect: Dialect;
  readonly cost: CompileCost;
  /** Number of subschemas by the pointer of the schema that holds them. */
  readonly sizes: Map<string, number>;
  /** Path of each reference, by its text. */
  readonly references: Map<string, string>;
  readonly expressions: Map<string, LinearRegExp>;
}

interface Place {
  readonly path: string;
  readonly pointer: string;
  readonly depth: number;
  /** The object that the schema is for, or of which a keyword holds schemas, if its names are known. */
  readonly object: KnownObject | undefined;
}

interface Checked<S = unknown> {
  readonly schema: S;
  readonly size: number;
}

function checkedSchema(schema: unknown, place: Place, walk: Walk): Checked {
  if (isObject(schema)) return checkedObject(schema, { ...place, depth: place.depth + 1 }, walk);
  // true and false are schemas; the meta-schema refuses anything else.
  walk.sizes.set(place.pointer, 1);
  return { schema, size: 1 };
}

function checkedObject(schema: Schema, place: Place, walk: Walk): Checked<Schema> {
  if (place.depth > DEEPEST_SCHEMA) {
    throw new PolicyFault('schema', `must not nest deeper than ${DEEPEST_SCHEMA} subschemas`);
  }
  walk.cost.take(costOf(schema));
  demandRequestFields(schema, place);
  let size = 1;
  const members = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (!walk.dialect.isKeyword(keyword)) {
      throw new PolicyFault(place.path, unknownKeyword(keyword, walk.dialect));
    }
    const isOfObject = keyword === 'properties' || SAME_VALUE.has(keyword);
    const below = { ...inside(place, keyword, false), object: isOfObject ? place.object : undefined };
    const checked = checkedKeyword(keyword, value, below, walk);
    size += checked.size;
    return [keyword, checked.schema];
  });
  if (size > MOST_SUBSCHEMAS) throw tooMany();
  walk.sizes.set(place.pointer, size);
  return { schema: { ...Object.fromEntries(members), [STEPS_KEYWORD]: weightOf(schema) }, size };
}

function checkedKeyword(keyword: string, value: unknown, place: Place, walk: Walk): Checked {
  checkValue(keyword, value, place, walk);
  if (SCHEMA_MAPS.has(keyword) && isObject(value)) return checkedMap(keyword, value, place, walk);
  if (SCHEMAS.has(keyword) && isList(value)) return checkedList(value, place, walk);
  if (SCHEMAS.has(keyword)) return checkedSchema(value, place, walk);
  return { schema: value, size: 0 };
}

function checkedMap(keyword: string, schemas: Schema, place: Place, walk: Walk): Checked {
  const members = Object.entries(schemas).map(([name, schema]) => {
    // ajv skips this name, so its schema would not be checked.
    if (name === '__proto__') throw new PolicyFault(place.path, 'must not use the name __proto__');
    const object = keyword === 'properties' ? partOf(place.object, name) : place.object;
    return [name, checkedSchema(schema, { ...inside(place, name, false), object }, walk)] as const;
  });
  const copy = Object.fromEntries(members.map(([name, { schema }]) => [name, schema]));
  return { schema: copy, size: members.reduce((sum, [, { size }]) => sum + size, 0) };
}

function checkedList(schemas: readonly unknown[], place: Place, walk: Walk): Checked {
  const elements = schemas.map((schema, at) => checkedSchema(schema, inside(place, String(at), true), walk));
  return { schema: elements.map(({ schema }) => schema), size: elements.reduce((sum, { size }) => sum + size, 0) };
}

/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords whose schemas are for the same value as the schema that has the keyword. */
const SAME_VALUE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'dependencies',
  'dependentSchemas',
  'else',
  'if',
  'not',
  'oneOf',
  'then',
]);
/** Keywords whose value names fields of an object, as its keys. */
const NAMING = ['dependencies', 'dependentRequired', 'dependentSchemas', 'properties'] as const;
/** Keywords whose value holds schemas by name. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** Checks the names in a schema for the request object or a part of it. Throws for one that no request has there. */
function demandRequestFields(schema: Schema, { path, object }: Place): void {
  if (object === undefined) return;
  for (const keyword of NAMING) {
    const named = schema[keyword];
    for (const name of isObject(named) ? Object.keys(named) : []) {
      const fault = requestFieldFault(object, name);
      if (fault !== undefined) throw new PolicyFault(memberPath(`${path}.${keyword}`, name, false), fault);
    }
  }
  const { required } = schema;
  for (const name of isList(required) ? required : []) {
    const fault = typeof name === 'string' ? requestFieldFault(object, name) : undefined;
    if (fault !== undefined) throw new PolicyFault(`${path}.required`, `names ${JSON.stringify(name)}, which ${fault}`);
  }
}

function checkValue(keyword: string, value: unknown, place: Place, walk: Walk): void {
  if (keyword === 'pattern' && typeof value === 'string') checkExpression(value, place.path, walk);
  if (keyword === 'patternProperties' && isObject(value)) {
    for (const pattern of Object.keys(value)) checkExpression(pattern, memberPath(place.path, pattern, false), walk);
  }
  if (keyword === 'format' && typeof value === 'string' && !Object.hasOwn(FORMATS, value)) {
    throw new PolicyFault(place.path, `is the unknown format "${value}"; known are ${Object.keys(FORMATS).join(', ')}`);
  }
  if (keyword === '$id' || (keyword === '$schema' && place.depth > 0)) {
    throw new PolicyFault(place.path, 'may stand at the top of the schema only');
  }
  if (keyword === '$ref' && typeof value === 'string') walk.references.set(value, place.path);
}

function checkExpression(pattern: string, path: string, walk: Walk): void {
  try {
    walk.expressions.set(pattern, linearRegExp(pattern, walk.cost));
  } catch (error) {
    throw new PolicyFault(path, error instanceof Error ? error.message : 'is not a regular expression');
  }
}

/** Checks that references stay inside. The target of each one is compiled once more, which is limited too. */
function checkReferences(walk: Walk, size: number): void {
  let total = size;
  for (const [reference, path] of walk.references) {
    const behind = walk.sizes.get(reference.replace(/^#\/$/, '#'));
    if (behind === undefined) {
      throw new PolicyFault(path, 'must point at a subschema of this schema, such as #/$defs/name');
    }
    total += behind;
  }
  if (total > MOST_SUBSCHEMAS) throw tooMany();
}

/** Returns the cost measured with ajv's code and its first run; each name of a short list becomes its own condition. */
function costOf(schema: Schema): number {
  const own = Object.entries(schema).filter(([keyword]) => !SCHEMAS.has(keyword) && !SCHEMA_MAPS.has(keyword));
  return own.reduce((sum, [keyword, value]) => sum + 10 + costOfLiterals(keyword, nodesOf(value)), 80);
}

function costOfLiterals(keyword: string, literals: number): number {
  return literals + (keyword === 'dependentRequired' ? 15 * literals : 30 * Math.min(literals - 1, LONGEST_UNROLLED));
}

/** Returns the weight of a subschema; the divisors come from measuring ajv's compiled code. */
function weightOf(schema: Schema): Weight {
  const values = Object.entries(schema).filter(([keyword]) => !SCHEMAS.has(keyword) && !SCHEMA_MAPS.has(keyword));
  const literals = nodesOf([schema['enum'], schema['const']]);
  return {
    visit: 1 + nodesOf(values) / 16,
    perCharacter: 1 / 64,
    perElement: 1 / 8,
    perKey: (1 + literals) / 8,
  };
}

/** Counts the values that a JSON value consists of. */
function nodesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + nodesOf(member), 1);
}

function unknownKeyword(keyword: string, { keywords }: Dialect): string {
  return `has the unknown keyword ${JSON.stringify(keyword)}${wordHint(keyword, keywords())}`;
}

function inside(place: Place, key: string, inArray: boolean): Place {
  return {
    path: memberPath(place.path, key, inArray),
    pointer: `${place.pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    depth: place.depth,
    object: place.object,
  };
}

function tooMany(): PolicyFault {
  return new PolicyFault('schema', `must have at most ${MOST_SUBSCHEMAS} subschemas, those behind references included`);
}
