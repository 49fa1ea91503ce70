import { isObject, type JsonObject } from '../../../crds/json-value.ts';
import type { Kept } from './object-store.ts';

/** Returns the metadata of an object of the Kubernetes API; empty if the value has none. */
export function metadataOf(value: unknown): JsonObject {
  const metadata = isObject(value) ? value['metadata'] : undefined;
  return isObject(metadata) ? metadata : {};
}

/**
 * Returns the names, uid and version in the metadata of an object; undefined if one of them is missing. An object
 * outside namespaces has no `namespace`: its caller passes another one.
 */
export function identityOf(metadata: JsonObject, namespace = metadata['namespace']): Kept | undefined {
  const { name, uid, resourceVersion } = metadata;
  if (typeof namespace !== 'string' || typeof name !== 'string') return undefined;
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string') return undefined;
  return { namespace, name, uid, resourceVersion };
}
