import type { KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';
import { metadataOf } from '../client/kube-object.ts';

/** Reads the uid of the namespace kube-system: every cluster has another one, and keeps it. Throws KubeError. */
export async function readClusterId(api: KubeApi, signal: AbortSignal): Promise<string> {
  const path = '/api/v1/namespaces/kube-system';
  const { uid } = metadataOf(await api.call({ path }, signal));
  if (typeof uid === 'string') return uid;
  throw new KubeError('garbled', `${path}: the answer is not the namespace`);
}
