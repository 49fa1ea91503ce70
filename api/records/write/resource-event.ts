import type { JsonObject } from '../../../crds/path.ts';
import type { SecurityEvent } from '../../audit/audit-trail.ts';
import type { ResourceKey } from '../../db/resource/resource.ts';
import { differingFields } from './changed-fields.ts';

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

/** Fields that never change in a resource. */
const identity: ReadonlySet<string> = new Set(['resourceType', 'id']);

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
