import { API_GROUP, KINDS, type Kind } from '../../../crds/kind.ts';
import type { KubeApi } from './kube-api.ts';
import { KubeError } from './kube-error.ts';
import { metadataOf } from './kube-object.ts';

/** Kind, namespace and name of one object. */
export interface KubeName {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Reads the uid of an object as it is in the cluster now; undefined if it does not exist, or is being deleted. Only an
 * answer that names the object says so: one for the kind may mean that its definition is gone, and throws KubeError
 * like every other failure.
 */
export async function liveUid(api: KubeApi, object: KubeName, signal: AbortSignal): Promise<string | undefined> {
  try {
    const found = await api.call({ path: pathOfObject(object), metadataOnly: true }, signal);
    const { uid, deletionTimestamp } = metadataOf(found);
    if (typeof deletionTimestamp === 'string') return undefined;
    if (typeof uid === 'string') return uid;
  } catch (error) {
    if (error instanceof KubeError && isAbout(error, object)) return undefined;
    throw error;
  }
  throw new KubeError('garbled', `${pathOfObject(object)}: the answer is not the object`);
}

/** Returns the names of one of our kinds. */
export function kindName(kind: Kind) {
  return { group: API_GROUP, version: 'v1', plural: KINDS[kind].plural };
}

/** Returns the path of a kind, in all namespaces or in one. */
export function pathOfKind(
  { group, version, plural }: Omit<KubeName, 'namespace' | 'name'>,
  namespace?: string,
): string {
  const api = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === undefined ? `${api}/${plural}` : `${api}/namespaces/${namespace}/${plural}`;
}

/** Returns the path of an object. */
export function pathOfObject(object: KubeName): string {
  return `${pathOfKind(object, object.namespace)}/${object.name}`;
}

/** Checks whether an error says that this very object does not exist. */
export function isAbout(
  { code, subject }: KubeError,
  { group, plural, name }: Pick<KubeName, 'group' | 'plural' | 'name'>,
): boolean {
  return code === 'not-found' && subject?.group === group && subject.kind === plural && subject.name === name;
}
