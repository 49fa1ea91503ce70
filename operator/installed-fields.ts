import { isObject } from '../crds/path.ts';
import { fieldsBeyond } from '../crds/unimplemented-fields.ts';
import { schemaNode } from '../crds/schema-node.ts';
import { KINDS, type Kind } from '../crds/kind.ts';
import { manifestSchemas } from '../crds/manifest-schema.ts';
import { statusSchemas } from '../crds/status.ts';
import type { InstalledFields, InstalledKinds } from './desired/source.ts';

/** Compares a CustomResourceDefinition with this release; returns undefined if it does not serve our version. */
export function installedFields(kind: Kind, definition: unknown): InstalledFields | undefined {
  const versions: unknown = isObject(definition) && isObject(definition['spec']) ? definition['spec']['versions'] : [];
  const served = (Array.isArray(versions) ? versions.filter(isObject) : []).find(
    ({ name, served: isServed }) => name === 'v1' && isServed === true,
  );
  const schema = isObject(served?.['schema']) ? served['schema']['openAPIV3Schema'] : undefined;
  const properties = isObject(schema) ? schema['properties'] : undefined;
  if (!isObject(properties)) return undefined;
  const spec = schemaNode(manifestSchemas[kind].properties.spec);
  const status = schemaNode(statusSchemas[kind]);
  return {
    newer: new Set(fieldsBeyond(properties['spec'], spec)),
    missing: new Set(fieldsBeyond(spec, properties['spec'])),
    unwritable: new Set(fieldsBeyond(status, properties['status'])),
  };
}

/** Returns one line for each way in which the definitions differ, with what to do; empty if they do not differ. */
export function skewLines(kinds: InstalledKinds): readonly string[] {
  return Object.values(KINDS).flatMap(({ kind }) => {
    const found = kinds.get(kind);
    if (found === undefined) return [];
    const { newer, missing, unwritable } = found;
    const older = [...missing, ...[...unwritable].map((field) => `status.${field}`)];
    const lines: string[] = [];
    if (older.length > 0) lines.push(`the definition of ${kind} lacks ${older.join(', ')}: kubectl apply -f crds/`);
    if (newer.size > 0) lines.push(`the definition of ${kind} has ${[...newer].join(', ')}: update the operator`);
    return lines;
  });
}
