import { isObject } from '../../../crds/json-value.ts';
import { API_GROUP, KINDS, type Kind } from '../../../crds/kind.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';

/** The path of the definitions of custom resources. */
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/**
 * Checks past every cache whether the definition of a kind is being deleted, or gone: the API server then deletes every
 * object of it (Kubernetes, custom resources: deleting a CustomResourceDefinition). Throws KubeError when it cannot be
 * read.
 */
export async function isDefinitionGoing(api: KubeApi, kind: Kind, signal: AbortSignal): Promise<boolean> {
  const path = `${DEFINITIONS}/${KINDS[kind].plural}.${API_GROUP}`;
  try {
    const found = await api.call({ path, metadataOnly: true }, signal);
    const metadata = isObject(found) && isObject(found['metadata']) ? found['metadata'] : {};
    return typeof metadata['deletionTimestamp'] === 'string';
  } catch (error) {
    if (error instanceof KubeError && error.code === 'not-found') return true;
    throw error;
  }
}
