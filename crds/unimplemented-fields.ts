import { isObject, isList } from './path.ts';
import type { Kind } from './kind.ts';

/** A field this version accepts but does not implement yet. */
export interface UnimplementedField {
  /** Dotted path below `spec`; fields below it have no effect either. */
  readonly field: string;
  /** Restricts the entry to this value, or a list that holds it. */
  readonly value?: string | boolean;
  /** Restricts the entry to objects in files (`boxgate dev`). */
  readonly inFiles?: true;
  /** Description of the missing part, for the docs. */
  readonly missing: string;
}

const grant = (value: string, missing: string): UnimplementedField => ({ field: 'grant_types', value, missing });
const fileHasNone = 'under `boxgate dev` alone: there a generated secret is a file, which has none';

/** Every such field. A field leaves this list in the change that gives it its effect. */
export const UNIMPLEMENTED_FIELDS: Readonly<Record<Kind, readonly UnimplementedField[]>> = {
  Client: [
    grant('urn:ietf:params:oauth:grant-type:token-exchange', 'the grant is not built'),
    { field: 'generateSecret.labels', inFiles: true, missing: fileHasNone },
    { field: 'generateSecret.annotations', inFiles: true, missing: fileHasNone },
  ],
  AccessPolicy: [],
  Box: [],
  Group: [],
};

/**
 * Returns the fields of a spec that have no effect in this version, for people: `spec.generateSecret.labels`,
 * `spec.grant_types x`. Some have an effect in a cluster but not in files.
 */
export function unimplementedFields(kind: Kind, spec: unknown, isInFile: boolean): readonly string[] {
  return UNIMPLEMENTED_FIELDS[kind]
    .filter((entry) => (isInFile || entry.inFiles !== true) && asksFor(entry, valueAt(spec, entry.field)))
    .map(nameOf);
}

function nameOf({ field, value }: UnimplementedField): string {
  return value === undefined ? `spec.${field}` : `spec.${field} ${String(value)}`;
}

function asksFor({ value }: UnimplementedField, found: unknown): boolean {
  if (found === undefined || value === undefined) return found !== undefined;
  return Array.isArray(found) ? found.includes(value) : found === value;
}

function valueAt(spec: unknown, field: string): unknown {
  let value = spec;
  for (const name of field.split('.')) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** A value without some members, and their paths: dotted from the root, members of lists as `field[].member`. */
export interface Reduced {
  readonly value: unknown;
  readonly dropped: readonly string[];
}

/**
 * Removes the members of a value that its schema does not declare and whose path `isDropped` accepts. Values declared
 * as free JSON keep their members.
 */
export function withoutUndeclared(
  value: unknown,
  schema: unknown,
  isDropped: (path: string) => boolean,
  path = '',
): Reduced {
  if (isList(value)) {
    const items = value.map((item) => withoutUndeclared(item, itemsOf(schema), isDropped, `${path}[]`));
    return { value: items.map((item) => item.value), dropped: distinct(items.flatMap(({ dropped }) => dropped)) };
  }
  const properties = propertiesOf(schema);
  if (!isObject(value) || properties === undefined) return { value, dropped: [] };
  const dropped: string[] = [];
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const place = below(path, name);
    if (Object.hasOwn(properties, name)) {
      const reduced = withoutUndeclared(member, properties[name], isDropped, place);
      members.push([name, reduced.value]);
      dropped.push(...reduced.dropped);
    } else if (!isFree(schema) && isDropped(place)) dropped.push(place);
    else members.push([name, member]);
  }
  return { value: dropped.length === 0 ? value : Object.fromEntries(members), dropped: distinct(dropped) };
}

/** Returns the paths that one schema declares and the other does not; for a missing object only its own path. */
export function fieldsBeyond(schema: unknown, other: unknown, path = ''): readonly string[] {
  const [properties, others] = [propertiesOf(schema), propertiesOf(other)];
  if (properties === undefined) {
    const items = itemsOf(schema);
    return items === undefined ? [] : fieldsBeyond(items, itemsOf(other), `${path}[]`);
  }
  if (others === undefined || isFree(other)) return [];
  return Object.entries(properties).flatMap(([name, child]) => {
    const place = below(path, name);
    return Object.hasOwn(others, name) ? fieldsBeyond(child, others[name], place) : [place];
  });
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  return isObject(properties) ? properties : undefined;
}

function itemsOf(schema: unknown): unknown {
  return isObject(schema) ? schema['items'] : undefined;
}

function isFree(schema: unknown): boolean {
  return isObject(schema) && schema['x-kubernetes-preserve-unknown-fields'] === true;
}

function distinct(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}
