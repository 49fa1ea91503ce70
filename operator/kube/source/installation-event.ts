import { randomBytes } from 'node:crypto';
import { EVENT_REPORTER, eventInstance, eventName, eventNote, microTime } from './event-parts.ts';
import type { KubeApi } from '../client/kube-api.ts';

/** Lease of the operators, and the process that reports. */
export interface InstallationEventPlace {
  readonly namespace: string;
  readonly leaseName: string;
  readonly instance: string;
}

/** Report of something that concerns all boxes, and its time. */
export interface InstallationReport {
  readonly reason: 'RightsMissing' | 'Unavailable';
  readonly message: string;
  readonly now: Date;
}

/**
 * Reports something to the people of the installation, by an Event of the Lease in the operator's own namespace: those
 * of each box could not help, and without its rights the operator can report nowhere else. Throws KubeError.
 */
export async function tellInstallation(
  api: KubeApi,
  { namespace, leaseName, instance }: InstallationEventPlace,
  { reason, message, now }: InstallationReport,
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
    reason,
    message: eventNote(message),
  };
  await api.call({ method: 'POST', path: `/api/v1/namespaces/${namespace}/events`, body }, signal);
}
