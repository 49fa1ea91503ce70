import { isObject } from '../../../crds/json-value.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';

/** Reads the uid of the namespace kube-system: every cluster has another one, and keeps it. Throws KubeError. */
export async function readClusterId(api: KubeApi, signal: AbortSignal): Promise<string> {
  const path = '/api/v1/namespaces/kube-system';
  const answer = await api.call({ path }, signal);
  const metadata = isObject(answer) && isObject(answer['metadata']) ? answer['metadata'] : {};
  if (typeof metadata['uid'] === 'string') return metadata['uid'];
  throw new KubeError('garbled', `${path}: the answer is not the namespace`);
}
