import { isObject } from './json-value.ts';
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
