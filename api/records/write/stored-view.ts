import { isObject } from '../../../crds/path.ts';
import { isDeepStrictEqual } from 'node:util';
import { accessPolicySchema } from '../../../crds/access-policy.ts';
import { clientSchema } from '../../../crds/client.ts';
import type { Fault } from '../../../crds/fault.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import type { View } from '../search/bundle.ts';
import type { StoredKind } from '../services.ts';

/**
 * Fields of a client or policy that the service sets. They are shown over REST only: a custom resource or a manifest
 * has `metadata.creationTimestamp`, so the schemas do not declare them.
 */
const readOnlyFields = ['created_at'] as const;

type ReadOnlyFields = Readonly<Record<(typeof readOnlyFields)[number], unknown>>;

/** Fields of a client or policy as it is shown. The secret is write-only and is never one of them. */
export const storedElements: Readonly<Record<StoredKind, ReadonlySet<string>>> = {
  Client: shownOf(clientSchema.properties),
  AccessPolicy: shownOf(accessPolicySchema.properties),
};

function shownOf(properties: object): ReadonlySet<string> {
  return new Set([...Object.keys(properties).filter((name) => name !== 'secret'), ...readOnlyFields]);
}

/** Shows a client or policy: its submitted fields, and those that the service sets. */
export function storedView(resource: StoredResource): View {
  return { ...resource.body, ...readOnlyPart(resource) };
}

function readOnlyPart({ createdAt }: StoredResource): ReadOnlyFields {
  return { created_at: new Date(createdAt).toISOString() };
}

/** Returns a submitted value without the fields that the service sets, so that the schemas can check it. */
export function withoutReadOnly(value: unknown): unknown {
  if (!givesReadOnly(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !isReadOnly(name)));
}

/** Checks whether a submitted value has a field that the service sets. */
export function givesReadOnly(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && readOnlyFields.some((name) => Object.hasOwn(value, name));
}

/**
 * Returns the faults of the fields that the service sets. Each may be left out, or given as `present` shows it, so that
 * a resource that was read can be sent back; `present` is undefined if the resource does not exist yet.
 */
export function readOnlyFaults(value: unknown, present: StoredResource | undefined): readonly Fault[] {
  if (!givesReadOnly(value)) return [];
  const shown = new Map<string, unknown>(present === undefined ? [] : Object.entries(readOnlyPart(present)));
  return Object.entries(value)
    .filter(([name, given]) => isReadOnly(name) && !(shown.has(name) && isDeepStrictEqual(shown.get(name), given)))
    .map(([path]) => ({
      path,
      message: 'cannot be set: the service sets it. Leave it out, or send it as it was read',
    }));
}

function isReadOnly(name: string): boolean {
  return readOnlyFields.some((field) => field === name);
}
