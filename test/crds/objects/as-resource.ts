import { isObject } from '../../../crds/path.ts';
import { isReservedId } from '../../../crds/reserved-ids.ts';
import type { Row } from './row.ts';

/** Fields that mean something in a manifest only and are not in camelCase. */
const ONLY_IN_MANIFESTS = new Set(['suspend', 'rotation', 'adoption', 'bootstrap_admin', 'secret_ref']);

/** Checks whether a row applies to a resource too: no manifest-only fields, no nulls, no previous object. */
export function isResourceToo(row: Row): boolean {
  const spec = specOf(row);
  if (spec === undefined || row.old !== undefined || row.verdict === 'valid-false') return false;
  if (row.paths.some((path) => !path.startsWith('spec.')) || JSON.stringify(spec).includes('null')) return false;
  // A stored client may have such an id from before it was reserved: only a submission is refused.
  if (row.kind === 'Client' && typeof spec['id'] === 'string' && isReservedId(spec['id'])) return false;
  const names = Object.keys(spec);
  return (
    !names.some((name) => /[A-Z]/.test(name) || name === 'resourceType' || ONLY_IN_MANIFESTS.has(name)) &&
    !isBoxWithId(row, names)
  );
}

/** The resource that a manifest declares, as it would be submitted over REST. */
export function resourceOf(row: Row): Record<string, unknown> {
  if (row.kind === 'Group') return { resourceType: row.kind, name: 'staff', ...specOf(row) };
  return { resourceType: row.kind, id: row.kind === 'Box' ? 'shop' : 'app', ...specOf(row) };
}

/** A Box declares no id: it is its namespace. */
function isBoxWithId(row: Row, names: readonly string[]): boolean {
  return row.kind === 'Box' && names.includes('id');
}

function specOf({ object }: Row): Record<string, unknown> | undefined {
  const spec = isObject(object) ? object['spec'] : undefined;
  return isObject(spec) ? spec : undefined;
}
