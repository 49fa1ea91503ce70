import { CoreV1Api, CustomObjectsApi } from '@kubernetes/client-node';
import { isObject, type JsonObject } from '../../../crds/path.ts';
import { API_GROUP, KINDS, type Kind } from '../../../crds/kind.ts';
import type { KubeApi, KubeCall } from './kube-api.ts';
import { KubeError } from './kube-error.ts';
import type { Collection } from './list.ts';
import type { Kept } from './object-store.ts';

/** Our name among those that write into objects. */
export const FIELD_MANAGER = 'boxgate';

/** Label of objects that we have created: `app.kubernetes.io/managed-by`. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'boxgate' } as const;

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

/** Returns the names of one of our kinds. */
export function kindName(kind: Kind) {
  return { group: API_GROUP, version: 'v1', plural: KINDS[kind].plural };
}

/** Returns the list of one of our kinds, in all namespaces. */
export function listOurs(kind: Kind): Collection {
  const { plural } = kindName(kind);
  return {
    plural,
    list: (make, query) => make(CustomObjectsApi).listClusterCustomObject({ ...kindName(kind), ...query }),
  };
}

/** Kind, namespace and name of one of our objects. */
export interface OurObject {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the call that reads one of our objects. */
export function readOurs({ kind, namespace, name }: OurObject): KubeCall {
  return (api) => api(CustomObjectsApi).getNamespacedCustomObject({ ...kindName(kind), namespace, name });
}

/** Reads the uid of the namespace kube-system: every cluster has another one, and keeps it. Throws KubeError. */
export async function readClusterId(api: KubeApi, signal: AbortSignal): Promise<string> {
  const name = 'kube-system';
  const { uid } = metadataOf(await api.call((make) => make(CoreV1Api).readNamespace({ name }), signal));
  if (typeof uid === 'string') return uid;
  throw new KubeError('garbled', `namespaces ${name}: the answer is not the namespace`);
}

/** Limit of concurrent calls of the Kubernetes API. */
const mostAtOnce = 16;

/** Does work for each item, several at a time; if some fail the others still run, then the first failure is thrown. */
export async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const errors: unknown[] = [];
  const inTurn = async (): Promise<void> => {
    for (const item of waiting) {
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(mostAtOnce, items.length) }, inTurn));
  if (errors.length > 0) throw errors[0];
}

/** Kind and name of an object, as the API server names it in an error. */
export interface ObjectReference {
  readonly group: string;
  readonly plural: string;
  readonly name: string;
}

/**
 * Reads the uid of an object as it is in the cluster now; undefined if it does not exist, or is being deleted. Only an
 * answer that names the object says so: one for the kind may mean that its definition is gone, and throws KubeError
 * like every other failure.
 */
export async function liveUid(
  api: KubeApi,
  read: KubeCall,
  object: ObjectReference,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { uid, deletionTimestamp } = metadataOf(await api.call(read, signal, { metadataOnly: true }));
    if (typeof deletionTimestamp === 'string') return undefined;
    if (typeof uid === 'string') return uid;
  } catch (error) {
    if (error instanceof KubeError && isAbout(error, object)) return undefined;
    throw error;
  }
  throw new KubeError('garbled', `${object.plural} ${object.name}: the answer is not the object`);
}

/** Checks whether an error says that this very object does not exist. */
export function isAbout({ code, subject }: KubeError, { group, plural, name }: ObjectReference): boolean {
  return code === 'not-found' && subject?.group === group && subject.kind === plural && subject.name === name;
}
