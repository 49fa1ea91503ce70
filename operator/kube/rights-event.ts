import { randomBytes } from 'node:crypto';
import type { KubeApi } from './kube-api.ts';

/** Where the Lease of the operators is, and which process tells of it. */
export interface RightsEventPlace {
  readonly namespace: string;
  readonly leaseName: string;
  readonly instance: string;
}

/**
 * Tells people which rights are missing, by an Event at the Lease in the operator's own namespace: without its rights in the
 * cluster the operator can tell of it nowhere else. Throws KubeError.
 */
export async function tellMissingRights(
  api: KubeApi,
  { namespace, leaseName, instance }: RightsEventPlace,
  message: string,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const time = now.toISOString().replace('Z', '000Z');
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${leaseName}.${randomBytes(8).toString('hex')}`, namespace },
    involvedObject: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: leaseName },
    eventTime: time,
    reportingComponent: 'boxgate.dev/operator',
    reportingInstance: instance.slice(0, 128),
    action: 'Reconcile',
    type: 'Warning',
    reason: 'RightsMissing',
    message: message.slice(0, 1_000),
  };
  await api.call({ method: 'POST', path: `/api/v1/namespaces/${namespace}/events`, body }, signal);
}
