import { KubeConfig } from '@kubernetes/client-node';
import { createConnection } from '../../../operator/kube/connection.ts';
import { createKubeApi, type KubeApi } from '../../../operator/kube/kube-api.ts';
import { watch, type WatchEvent } from '../../../operator/kube/watch.ts';
import { isRecord } from '../../../crds/schema-node.ts';

/** Calls and watches of the bench, with the product's own client. */
export function kubeApi(kubeconfig: string): KubeApi {
  return createKubeApi(
    createConnection(() => {
      const config = new KubeConfig();
      config.loadFromFile(kubeconfig);
      return config;
    }),
  );
}

/** An hour: no watch of the bench lasts as long. */
const times = { timeoutSeconds: 3_600, silence: 3_600_000 };

/** The version of everything now: of etcd, where each write of anything makes a new one. */
export async function versionNow(kube: KubeApi, path = '/api/v1/namespaces'): Promise<string> {
  const answer = await kube.call({ path, query: { limit: '1' } }, new AbortController().signal);
  const { metadata } = isRecord(answer) ? answer : {};
  return isRecord(metadata) ? String(metadata['resourceVersion']) : '0';
}

/** Calls back with every event of a path from now on; resolves, once that has begun, with what ends it. */
export async function follow(kube: KubeApi, path: string, onEvent: (event: WatchEvent) => void): Promise<() => void> {
  const version = await versionNow(kube, path);
  const over = new AbortController();
  const events = watch(kube, path, version, times, over.signal);
  const following = (async () => {
    for await (const event of events) onEvent(event);
  })();
  following.catch((error: unknown) => {
    // Nothing that waits for an event would ever end.
    if (!over.signal.aborted) throw error;
  });
  return () => over.abort();
}
