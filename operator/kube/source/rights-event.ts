import { randomBytes } from 'node:crypto';
import { EVENT_REPORTER, eventInstance, eventName, eventNote, microTime } from './event-parts.ts';
import type { KubeApi } from '../client/kube-api.ts';

/** Lease of the operators, and the process that reports. */
export interface RightsEventPlace {
  readonly namespace: string;
  readonly leaseName: string;
  readonly instance: string;
}

/** Report of missing rights, and its time. */
export interface RightsReport {
  readonly message: string;
  readonly now: Date;
}

/**
 * Reports the missing rights to people, by an Event of the Lease in the operator's own namespace: without its rights in
 * the cluster the operator can report them nowhere else. Throws KubeError.
 */
export async function tellMissingRights(
  api: KubeApi,
  { namespace, leaseName, instance }: RightsEventPlace,
  { message, now }: RightsReport,
  signal: AbortSignal,
): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: eventName(leaseName, randomBytes(8).toString('hex')), namespace },
    involvedObject: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: leaseName },
    eventTime: microTime(now.getTime()),
    reportingComponent: EVENT_REPORTER,
    reportingInstance: eventInstance(instance),
    action: 'Reconcile',
    type: 'Warning',
    reason: 'RightsMissing',
    message: eventNote(message),
  };
  await api.call({ method: 'POST', path: `/api/v1/namespaces/${namespace}/events`, body }, signal);
}
