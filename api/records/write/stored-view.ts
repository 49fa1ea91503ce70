import { isObject } from '../../../crds/path.ts';
import { isDeepStrictEqual } from 'node:util';
import { accessPolicySchema } from '../../../crds/access-policy.ts';
import { clientSchema } from '../../../crds/client.ts';
import type { Fault } from '../../../crds/fault.ts';
import type { Client } from '../../../crds/client.ts';
import type { AccessPolicy } from '../../../crds/access-policy.ts';
import { clientWarnings, policyWarnings } from '../../../crds/warnings.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { missingLinks } from '../../db/resource/resource.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import type { View } from '../search/search.ts';
import type { StoredKind } from '../services.ts';

/**
 * Fields of a client or policy that the service sets. They are shown over REST only: a custom resource or a manifest
 * has `metadata.creationTimestamp`, so the schemas do not declare them.
 */
interface ReadOnlyFields {
  readonly created_at: string;
}

/** Fields that a service like this one sets: a copy of a resource, or one of another box, may have them. */
const readOnlyFields = ['created_at', 'updated_at', 'meta'];

/** Tells what has no effect, in answers to writes. It may be sent back, and is ignored. */
const warningsField = 'warnings';

/** A client or policy, with the warnings about it when it was just written. */
export interface StoredRow extends StoredResource {
  readonly warnings?: readonly string[];
}

/** Field of a client that keeps its present secret beside a new one, until then; it is not in the body. */
export const PREVIOUS_UNTIL = 'previous_secret_until';

/** Fields of a client or policy as it is shown. The secret is write-only and is never one of them. */
export const storedElements: Readonly<Record<StoredKind, ReadonlySet<string>>> = {
  Client: shownOf({ ...clientSchema.properties, [PREVIOUS_UNTIL]: undefined }),
  AccessPolicy: shownOf(accessPolicySchema.properties),
};

function shownOf(properties: object): ReadonlySet<string> {
  return new Set([...Object.keys(properties).filter((name) => name !== 'secret'), 'created_at']);
}

/** Shows a client or policy: its submitted fields, those that the service sets, and warnings. */
export function storedView({ warnings = [], ...resource }: StoredRow): View {
  const until = timeText(resource.previousUntil);
  return {
    ...resource.body,
    ...(until !== undefined && { [PREVIOUS_UNTIL]: until }),
    ...readOnlyPart(resource),
    ...(warnings.length > 0 && { [warningsField]: warnings }),
  };
}

/** Returns a time in milliseconds since 1970 as it is shown (RFC 3339). */
export function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

/** Adds the warnings about a resource to its row, within the transaction that stores it. */
export async function withWarnings(
  connection: Connection,
  box: string,
  resource: Client | AccessPolicy,
  row: StoredResource,
): Promise<StoredRow> {
  if (resource.resourceType === 'Client') return { ...row, warnings: clientWarnings(resource) };
  const { link = [] } = resource;
  const dangling = link.length === 0 ? [] : await missingLinks(connection, box, link);
  return { ...row, warnings: policyWarnings(resource, dangling) };
}

function readOnlyPart({ createdAt }: StoredResource): ReadOnlyFields {
  return { created_at: new Date(createdAt).toISOString() };
}

/** Returns the part of a submitted value that the schema of its kind describes. */
export function schemaPart(kind: StoredKind, value: unknown): unknown {
  if (!isObject(value)) return value;
  const others =
    kind === 'Client' ? [...readOnlyFields, warningsField, PREVIOUS_UNTIL] : [...readOnlyFields, warningsField];
  return Object.fromEntries(Object.entries(value).filter(([name]) => !others.includes(name)));
}

/**
 * Returns the faults of the fields that the service sets. Each may be left out, or given as `present` shows it, so that
 * a resource that was read can be sent back. Those of a new resource are ignored: `present` is undefined then.
 */
export function readOnlyFaults(value: unknown, present: StoredResource | undefined): readonly Fault[] {
  if (present === undefined || !isObject(value)) return [];
  const shown = new Map<string, unknown>(Object.entries(readOnlyPart(present)));
  return Object.entries(value)
    .filter(([name, given]) => isReadOnly(name) && !(shown.has(name) && isDeepStrictEqual(shown.get(name), given)))
    .map(([path]) => ({
      path,
      message: 'cannot be set: the service sets it. Leave it out, or send it as it was read',
    }));
}

function isReadOnly(name: string): boolean {
  return readOnlyFields.includes(name);
}
