import { errorFacts, type Log } from '../../../program/log.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { missingRights } from '../client/rights.ts';
import type { QueueOptions } from '../../reconcile/work-queue.ts';
import { CoreV1Api, V1MicroTime } from '@kubernetes/client-node';
import { randomBytes } from 'node:crypto';
import { EVENT_REPORTER, eventInstance, eventName, eventNote } from './event-recorder.ts';

/** Dependencies of following the operator's rights. */
export interface RightsFollower {
  /** Namespace of the operator and of its Lease. */
  readonly namespace: string;
  readonly leaseName: string;
  readonly kube: KubeApi;
  readonly instance: string;
  readonly schedule: QueueOptions['schedule'];
  readonly log: Log;
  readonly onReturn: () => void;
}

/** Logs missing rights, reports them by an Event as soon as one is removed, and logs when they are back. */
export function followRights(options: RightsFollower, signal: AbortSignal): RightsWatch {
  const { kube, namespace, schedule, log } = options;
  let isTold = true;
  return watchRights(
    {
      ask: (stop) => missingRights(kube, namespace, stop),
      schedule,
      onMissing(missing, isNew) {
        if (isNew) {
          log.error({ missing }, 'rights of the operator are missing');
          isTold = false;
        }
        if (isTold) return;
        isTold = true;
        const report = { reason: 'RightsMissing', message: lacking(missing), now: new Date() } as const;
        tellInstallation(kube, options, report, signal).catch((error: unknown) => {
          isTold = false;
          log.debug(errorFacts(error), 'an event is lost');
        });
      },
      onReturn() {
        log.info('the operator has its rights again');
        options.onReturn();
      },
    },
    signal,
  );
}

/** Returns a sentence that names the missing rights and what to do. */
export function lacking(missing: readonly string[]): string {
  const remedy = 'install its chart again (helm upgrade), or apply operator/rbac/cluster-role.yaml of its release';
  return `the operator may not ${missing.join(', ')}: ${remedy}`;
}

/** Rights that the operator needs and lacks. */
interface RightsWatch {
  /** Returns the names of the missing rights: `list clients.boxgate.dev`; empty until some are known to be missing. */
  missing(): readonly string[];
}

/** Dependencies of the watch. */
interface RightsWatchOptions {
  /** Returns the missing rights. Throws if there is no answer: then the last result stays. */
  readonly ask: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly schedule: QueueOptions['schedule'];
  /** Called after each check that finds rights missing; `isNew` if they are not the same as before. */
  readonly onMissing: (missing: readonly string[], isNew: boolean) => void;
  /** Called when none is missing any more. */
  readonly onReturn: () => void;
}

/** Milliseconds between two checks. */
const period = 5_000;
/** Milliseconds between two checks while a right is missing: waiting work resumes within two seconds. */
const hurried = 1_000;

/**
 * Checks the operator's rights for as long as it runs: a running watch continues without them, so nothing else would
 * show in time that statuses, finalizers or the next list are refused. Stops when aborted.
 */
function watchRights(options: RightsWatchOptions, signal: AbortSignal): RightsWatch {
  let missing: readonly string[] = [];
  let cancel = (): void => undefined;

  async function look(): Promise<void> {
    const found = await options.ask(signal).catch(() => missing);
    if (signal.aborted) return;
    const [before, now] = [missing.join(), found.join()];
    missing = found;
    if (now !== '') options.onMissing(found, now !== before);
    else if (before !== '') options.onReturn();
    cancel = options.schedule(now === '' ? period : hurried, () => void look());
  }

  signal.addEventListener('abort', () => cancel(), { once: true });
  void look();
  return { missing: () => missing };
}

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
    eventTime: new V1MicroTime(now),
    reportingComponent: EVENT_REPORTER,
    reportingInstance: eventInstance(instance),
    action: 'Reconcile',
    type: 'Warning',
    reason,
    message: eventNote(message),
  };
  await api.call((make) => make(CoreV1Api).createNamespacedEvent({ namespace, body }), signal);
}
