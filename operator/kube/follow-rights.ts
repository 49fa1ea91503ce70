import { errorFacts, type Log } from '../../process/log.ts';
import type { KubeApi } from './kube-api.ts';
import { tellMissingRights } from './rights-event.ts';
import { missingRights } from './rights.ts';
import type { QueueOptions } from '../queue.ts';
import { watchRights, type RightsWatch } from '../rights-watch.ts';

/** What is told where rights are missing. */
export interface RightsFollower {
  /** Of the operator itself, where its Lease is. */
  readonly namespace: string;
  readonly leaseName: string;
  readonly kube: KubeApi;
  readonly instance: string;
  readonly schedule: QueueOptions['schedule'];
  readonly log: Log;
  readonly onReturn: () => void;
}

/** Logs which rights are missing, tells people of it by an Event, as soon as one is taken, and says when they are back. */
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
        tellMissingRights(kube, options, lacking(missing), new Date(), signal).catch((error: unknown) => {
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

/** Says which rights are missing, and what to do. */
export function lacking(missing: readonly string[]): string {
  return `the operator may not ${missing.join(', ')}: apply operator/rbac/cluster-role.yaml`;
}
