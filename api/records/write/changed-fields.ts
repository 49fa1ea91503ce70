import type { JsonObject } from '../../../crds/path.ts';
import { isObject } from '../../../crds/path.ts';
import { isDeepStrictEqual } from 'node:util';
import { accessPolicySchema } from '../../../crds/access-policy.ts';
import { clientSchema } from '../../../crds/client.ts';
import { checkResource } from '../../../crds/validate.ts';
import type { StoredResource, ResourceKey } from '../../db/resource/resource.ts';
import type { StoredKind } from '../services.ts';
import { PREVIOUS_UNTIL, schemaPart, timeText } from './stored-view.ts';
import type { SecurityEvent } from '../../audit/audit-trail.ts';

const nouns = { Client: 'client', AccessPolicy: 'policy', Box: 'settings', Group: 'group' } as const satisfies Record<
  ResourceKey['kind'],
  string
>;

/** Returns the event of a resource that was created, changed or deleted, with the names of the changed fields. */
export function resourceEvent(
  what: 'created' | 'changed' | 'deleted',
  { kind, id }: ResourceKey,
  changed?: readonly string[],
): SecurityEvent {
  return { event: `${nouns[kind]}.${what}`, target: `${kind}/${id}`, ...(changed && { changed }) };
}

/**
 * Returns the event of a resource that was stored; `before` is undefined if it is new. `unshown` are the names of what
 * changed besides the fields of the two: a secret, the owner.
 */
export function storeEvent(
  key: ResourceKey,
  before: JsonObject | undefined,
  after: JsonObject,
  unshown: readonly string[],
): SecurityEvent {
  if (before === undefined) return resourceEvent('created', key);
  const names = [...Object.keys(before), ...Object.keys(after)].filter((name) => !identity.has(name));
  const changed = differingFields(before, after, names);
  return resourceEvent('changed', key, [...changed, ...unshown].sort());
}

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
  const settable = schemaPart(kind, wished);
  const submitted: JsonObject = isObject(settable) ? settable : {};
  const checked = checkResource(kind, id === undefined ? submitted : { ...submitted, id });
  const { secret, ...after }: JsonObject = checked.ok ? { ...checked.resource } : submitted;
  const names = fieldsOf[kind].filter((name) => !identity.has(name) && name !== 'secret');
  const changed = differingFields(current?.body ?? {}, after, names);
  const changesSecret = secret === null ? current?.hasSecret === true : secret !== undefined;
  const until = isObject(wished) && kind === 'Client' ? wished[PREVIOUS_UNTIL] : undefined;
  const changesUntil = until !== undefined && until !== timeText(current?.previousUntil);
  return [...changed, ...(changesSecret ? ['secret'] : []), ...(changesUntil ? [PREVIOUS_UNTIL] : [])].sort();
}
