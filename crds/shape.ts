import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { Static, TSchema } from 'typebox';
import type { Fault } from './fault.ts';
import { isNested, isList, isObject } from './path.ts';
import { ruleFaults, type Draft, type Rule } from './rule.ts';
import { schemaFaults } from './schema-faults.ts';
import { schemaNode, type SchemaNode } from './schema-node.ts';
import { textFaults } from './text.ts';

/** Maximum number of faults reported for one value: an array of garbage would cause a response of megabytes. */
const MOST_FAULTS = 100;

/** A value with its type, or every fault of it. */
export type Validated<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: readonly Fault[] };

/** A schema, compiled at its first use: checks values in microseconds, and extracts the readable parts of others. */
export interface Shape<T> {
  readonly node: SchemaNode;
  readonly validate: (value: unknown) => Validated<T>;
  readonly draft: (value: unknown) => Draft<T> | undefined;
}

/**
 * Returns the shape of a schema. NoInfer: inferring the schema backwards from the use of the shape would cost seconds
 * in every type check.
 */
export function shapeOf<S extends TSchema>(schema: S): Shape<NoInfer<Static<S>>> {
  const node = schemaNode(schema);
  let compiled: ValidateFunction<Static<S>> | undefined;
  return {
    node,
    validate(value) {
      const matches = (compiled ??= compile<Static<S>>(node));
      return matches(value) ? { ok: true, value } : { ok: false, faults: schemaFaults(matches.errors ?? [], value) };
    },
    draft(value) {
      const typed = pruneWrongTypes(value, node);
      return hasRightTypes<Static<S>>(typed) ? typed : undefined;
    },
  };
}

/**
 * Compiles a schema, which takes milliseconds: all kinds together take a third of the start of the operator. Our own
 * schemas are not compared with the meta-schema, which takes as long.
 */
function compile<T>(node: SchemaNode): ValidateFunction<T> {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: true,
    ownProperties: true,
    validateSchema: false,
    formats: FORMATS,
    keywords: KEYWORDS,
  });
  return ajv.compile<T>(node);
}

/** Says that the result of {@link pruneWrongTypes} has the right types, unless nothing is left. */
function hasRightTypes<T>(pruned: unknown): pruned is Draft<T> {
  return pruned !== undefined;
}

/**
 * Checks a value completely: text that no store holds, the schema, the rules. A schema fault hides faults of the rules
 * only at the same or a nested path. Never throws.
 */
export function validate<T>(shape: Shape<T>, rules: readonly Rule<Draft<T>>[], value: unknown): Validated<T> {
  const unfit = textFaults(value);
  if (unfit.length > 0) return { ok: false, faults: unfit };
  const validated = shape.validate(value);
  const draft = shape.draft(value);
  const broken = draft === undefined ? [] : ruleFaults(rules, draft);
  if (validated.ok) return broken.length === 0 ? validated : { ok: false, faults: atMost(broken) };
  const more = broken.filter(({ path }) => !validated.faults.some((fault) => isNested(path, fault.path)));
  return { ok: false, faults: atMost([...validated.faults, ...more]) };
}

const FORMATS = { 'date-time': fullFormats['date-time'] };
const KEYWORDS = ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys'];

/** Returns the first faults of a value, and how many more there are. */
export function atMost(faults: readonly Fault[]): readonly Fault[] {
  if (faults.length <= MOST_FAULTS) return faults;
  const rest = faults.length - MOST_FAULTS;
  return [...faults.slice(0, MOST_FAULTS), { path: '', message: `has ${rest} more faults` }];
}

/**
 * Returns the value without members that are null, as the API server removes them from a custom resource
 * (`description:` without a value in YAML). Free JSON keeps its nulls.
 */
export function pruneNulls(value: unknown, node: SchemaNode): unknown {
  if (isList(value)) return value.map((one) => (node.items === undefined ? one : pruneNulls(one, node.items)));
  if (!isObject(value)) return value;
  return rebuilt(value, (member, key) => {
    const child = childOf(node, key);
    if (child === undefined) return member;
    return member === null ? undefined : pruneNulls(member, child);
  });
}

/**
 * Returns the value without parts of a wrong type: in place of an object or a list it leaves an empty one, present but
 * unreadable; it removes text and numbers. Returns undefined if nothing of the value is left.
 */
function pruneWrongTypes(value: unknown, node: SchemaNode): unknown {
  switch (node.type) {
    case 'object':
      return isObject(value) ? rebuilt(value, (member, key) => typedMember(member, childOf(node, key))) : {};
    case 'array':
      return isList(value) ? typedList(value, node.items) : [];
    case 'integer':
      return Number.isInteger(value) ? value : undefined;
    case undefined:
    default:
      return typeof value === node.type || (value === null && node['nullable'] === true) ? value : undefined;
  }
}

function typedMember(member: unknown, node: SchemaNode | undefined): unknown {
  return node === undefined ? member : pruneWrongTypes(member, node);
}

/** Returns the whole list or an empty one: leaving elements out would give the others wrong indexes. */
function typedList(list: readonly unknown[], node: SchemaNode | undefined): unknown[] {
  const typed = list.map((element) => typedMember(element, node));
  return typed.includes(undefined) ? [] : typed;
}

function childOf(node: SchemaNode, key: string): SchemaNode | undefined {
  const { properties, additionalProperties } = node;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return additionalProperties === false ? undefined : additionalProperties;
}

function rebuilt(
  value: Readonly<Record<string, unknown>>,
  member: (member: unknown, key: string) => unknown,
): Record<string, unknown> {
  const members = Object.entries(value).map(([key, old]) => [key, member(old, key)] as const);
  return Object.fromEntries(members.filter(([, kept]) => kept !== undefined));
}
