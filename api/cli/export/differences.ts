import { isDeepStrictEqual } from 'node:util';
import { isList, isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { checkResource } from '../../../crds/validate.ts';
import type { PlannedObject } from '../../schemas/plan.ts';
import type { LiveRow } from './live-state.ts';
import { groupNames, namedLink } from './live-state.ts';

/** A resource that differs between a folder and a box. */
interface Difference {
  readonly change: 'only in the folder' | 'only in the box' | 'differs';
  readonly kind: string;
  readonly id: string;
  /** Paths of the fields that differ. */
  readonly fields: readonly string[];
}

/**
 * Returns how the objects of a folder differ from the rows of a box; `showsAll`: also from the rows that no object
 * declares.
 */
export function differencesOf(
  objects: readonly PlannedObject[],
  rows: readonly LiveRow[],
  showsAll: boolean,
): readonly Difference[] {
  const live = new Map(rows.map((row) => [keyOf(row), row]));
  const wanted = new Set(objects.map(keyOf));
  const groups = groupNames(rows);
  const compared = objects.flatMap((object): readonly Difference[] => {
    const { kind, id } = object;
    const row = live.get(keyOf(object));
    if (row === undefined) return [{ change: 'only in the folder', kind, id, fields: [] }];
    const fields = differingPaths(content(row.resource), content(resourceIn(object, groups)), '');
    return fields.length === 0 ? [] : [{ change: 'differs', kind, id, fields }];
  });
  const others = rows.filter((row) => !wanted.has(keyOf(row)) && (showsAll || row.object !== undefined));
  return [...compared, ...others.map(({ kind, id }) => ({ change: 'only in the box' as const, kind, id, fields: [] }))];
}

function keyOf({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${kind}/${id}`;
}

/** Returns the resource of an object as a box stores it, with links to groups by name. */
function resourceIn({ kind, resource }: PlannedObject, groups: ReadonlyMap<string, string>): JsonObject {
  const checked = checkResource(kind, resource);
  const stored: JsonObject = { ...(checked.ok ? checked.resource : resource) };
  const { link } = stored;
  return isList(link) ? { ...stored, link: link.map((one) => namedLink(one, groups)) } : stored;
}

/** Returns the compared fields of a resource: neither its identity nor its secret. */
function content({ resourceType: _type, id: _id, secret: _secret, ...fields }: JsonObject): JsonObject {
  return fields;
}

/** Returns the paths at which two values differ; lists are compared as a whole. */
function differingPaths(one: JsonObject, other: JsonObject, at: string): readonly string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  return names.flatMap((name) => {
    const [before, after] = [one[name], other[name]];
    const path = at === '' ? name : `${at}.${name}`;
    if (isObject(before) && isObject(after)) return differingPaths(before, after, path);
    return isDeepStrictEqual(before, after) ? [] : [path];
  });
}
