import { isList, isObject } from './json-value.ts';
import type { SchemaNode } from './schema-node.ts';

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
export function pruneWrongTypes(value: unknown, node: SchemaNode): unknown {
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
