import type { JsonObject } from '../../../crds/path.ts';
import { isObject } from '../../../crds/path.ts';
import { isDeepStrictEqual } from 'node:util';
import { accessPolicySchema } from '../../../crds/access-policy.ts';
import { clientSchema } from '../../../crds/client.ts';
import { checkResource } from '../../../crds/validate.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import type { StoredKind } from '../services.ts';
import { withoutReadOnly } from './stored-view.ts';

/** Returns the names of the fields in which two records differ, sorted; a field that is absent from one differs. */
export function differingFields(one: JsonObject, other: JsonObject, names: Iterable<string>): readonly string[] {
  const [ones, others] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  return Array.from(new Set(names))
    .filter((name) => !isDeepStrictEqual(ones.get(name), others.get(name)))
    .sort();
}

const fieldsOf: Readonly<Record<StoredKind, readonly string[]>> = {
  Client: Object.keys(clientSchema.properties),
  AccessPolicy: Object.keys(accessPolicySchema.properties),
};

/** Fields that never change in a resource. */
const identity: ReadonlySet<string> = new Set(['resourceType', 'id']);

/**
 * Returns the names of the fields that a client or policy would change if it were stored as requested; `current` is
 * undefined when there is none yet. A given secret is a change: stored ones cannot be compared. Fields that the service
 * sets are none: no request changes them. If a resource cannot be stored, its fields are compared as sent.
 */
export function changedResourceFields(
  kind: StoredKind,
  id: string | undefined,
  current: StoredResource | undefined,
  wished: unknown,
): readonly string[] {
  const settable = withoutReadOnly(wished);
  const submitted: JsonObject = isObject(settable) ? settable : {};
  const checked = checkResource(kind, id === undefined ? submitted : { ...submitted, id });
  const { secret, ...after }: JsonObject = checked.ok ? { ...checked.resource } : submitted;
  const names = fieldsOf[kind].filter((name) => !identity.has(name) && name !== 'secret');
  const changed = differingFields(current?.body ?? {}, after, names);
  const changesSecret = secret === null ? current?.hasSecret === true : secret !== undefined;
  return changesSecret ? [...changed, 'secret'].sort() : changed;
}
