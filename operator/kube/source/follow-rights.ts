import { errorFacts, type Log } from '../../../process/log.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { tellInstallation } from './installation-event.ts';
import { missingRights } from '../client/rights.ts';
import type { QueueOptions } from '../../reconcile/work-queue.ts';
import { watchRights, type RightsWatch } from '../../rights-watch.ts';

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
