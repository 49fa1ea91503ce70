import { isObject } from '../../../crds/json-value.ts';
import { clusterConfig, createConnection } from '../../../operator/kube/client/cluster-config.ts';
import { createKubeApi, type KubeApi } from '../../../operator/kube/client/kube-api.ts';
import { watch, type WatchEvent } from '../../../operator/kube/client/watch.ts';

/** Calls and watches of the bench, with the product's own client. */
export function kubeApi(kubeconfig: string): KubeApi {
  return createKubeApi(createConnection(() => clusterConfig({ kubeconfig })));
}

/** An hour: no watch of the bench lasts as long. */
const times = { timeoutSeconds: 3_600, silence: 3_600_000 };

/** The version of everything now: of etcd, where each write of anything makes a new one. */
async function versionNow(kube: KubeApi, path = '/api/v1/namespaces'): Promise<string> {
  const answer = await kube.call({ path, query: { limit: '1' } }, new AbortController().signal);
  const { metadata } = isObject(answer) ? answer : {};
  return isObject(metadata) ? String(metadata['resourceVersion']) : '0';
}

/**
 * Calls back with every event of a path from now on; resolves, once that has begun, with what ends it. An API server
 * ends watches of a kind whose definition has only just come: then the next one goes on where it ended.
 */
export async function follow(kube: KubeApi, path: string, onEvent: (event: WatchEvent) => void): Promise<() => void> {
  const over = new AbortController();
  followFrom(kube, path, await versionNow(kube, path), onEvent, over.signal).catch((error: unknown) => {
    // Who waits for an event waits in vain, and says for how many.
    if (!over.signal.aborted) process.stderr.write(`the watch of ${path} ended: ${String(error)}\n`);
  });
  return () => over.abort();
}

/** Calls back with every event of a path since a version; ends only with an error, or when aborted. */
export async function followFrom(
  kube: KubeApi,
  path: string,
  from: string,
  onEvent: (event: WatchEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let version = from; !signal.aborted;) {
    for await (const event of watch(kube, { path, resourceVersion: version }, times, signal)) {
      const { metadata } = event.object;
      if (isObject(metadata)) version = String(metadata['resourceVersion']);
      if (event.type !== 'BOOKMARK') onEvent(event);
    }
  }
}
