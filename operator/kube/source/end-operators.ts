import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeApi } from '../client/kube-api.ts';
import { createLeaseStore } from '../client/lease-store.ts';
import { unlessMissing } from '../client/unless-missing.ts';
import { look, mayTake, type Sight } from '../../leader/lease.ts';

/** Name of the operator's Deployment and of its Lease. */
const name = 'boxgate-operator';

/** Milliseconds between two looks at the Lease. */
const pause = 500;

/**
 * Scales the operator's Deployment to zero, and waits until nobody leads: the Lease is released, or was not renewed for
 * as long as it is valid. A Deployment that does not exist has ended. Throws KubeError.
 */
export async function endOperators(api: KubeApi, namespace: string, signal: AbortSignal): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}/scale`;
  const body = { spec: { replicas: 0 } };
  await unlessMissing(api.call({ method: 'PATCH', path, patch: 'merge', body }, signal));
  const store = createLeaseStore(api, { namespace, name, seconds: 0 }, () => new Date());
  const nobody = { identity: 'uninstall', pod: undefined, duration: 0 };
  let sight: Sight | undefined;
  for (;;) {
    const now = performance.now();
    sight = look(sight, await store.read(signal), now);
    if (mayTake(sight, nobody, now)) return;
    await sleep(pause, undefined, { signal });
  }
}
