import { API_GROUP, KINDS, type Kind } from '../../../crds/kind.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { metadataOf } from '../client/kube-object.ts';
import { unlessMissing } from '../client/unless-missing.ts';

/**
 * Checks past every cache whether the definition of a kind is being deleted, or gone: the API server then deletes every
 * object of it (Kubernetes, custom resources: deleting a CustomResourceDefinition). Throws KubeError when it cannot be
 * read.
 */
export async function isDefinitionGoing(api: KubeApi, kind: Kind, signal: AbortSignal): Promise<boolean> {
  const found = await unlessMissing(api.call({ path: definitionPath(kind), metadataOnly: true }, signal));
  return found === undefined || typeof metadataOf(found)['deletionTimestamp'] === 'string';
}

/** Returns the path of the definition of a kind. */
export function definitionPath(kind: Kind): string {
  return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${KINDS[kind].plural}.${API_GROUP}`;
}
