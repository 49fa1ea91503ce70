import type { ServiceAccountSettings } from '../api/client/cluster-settings.ts';
import type { Management } from '../api/client/management.ts';
import { ManagementError } from '../api/client/management-error.ts';
import { waitAfter, type BackOff } from './reconcile/back-off.ts';
import type { QueueOptions } from './reconcile/queue.ts';

/** Reads the issuer and keys of ServiceAccount tokens. Throws if it cannot; the API then keeps what was sent. */
export type ReadServiceAccounts = (signal: AbortSignal) => Promise<ServiceAccountSettings>;

/** Keeps the API's settings of this cluster up to date. */
export interface ClusterSettingsKeeper {
  /** Checks whether the API knows the issuer and keys of ServiceAccount tokens. */
  readonly servesServiceAccounts: () => boolean;
  /**
   * Reads and sends now. Never throws: a failure is reported and retried until it succeeds. Only the first call waits
   * for the result, successful or not: otherwise statuses from before a restart would be withdrawn in the meantime.
   */
  refresh(): Promise<void>;
}

/** Dependencies of the keeper. */
export interface ClusterSettingsOptions {
  /** Absent if there are no ServiceAccounts: then nothing is sent. */
  readonly readServiceAccounts?: ReadServiceAccounts;
  readonly management: Management;
  readonly cluster: string;
  readonly epoch: (signal: AbortSignal) => Promise<number>;
  readonly random: () => number;
  readonly schedule: QueueOptions['schedule'];
  /** Called after the first successful send. */
  readonly onServed: () => void;
  /** Called on every failure (with an empty box), with the milliseconds until the next try. */
  readonly onFailure: (box: string, error: unknown, wait: number) => void;
  /** Called if another process leads: nothing is retried. */
  readonly onFenced: (error: ManagementError) => void;
}

/** Short waits, because only two small documents are read. */
const backOff: BackOff = { first: 200, ceiling: 4_000 };

/**
 * Sends the API its settings of the cluster at each refresh, until aborted. It sends all of them each time: the API
 * stores what differs, and its database may have been restored to an older state.
 */
export function keepClusterSettings(options: ClusterSettingsOptions, signal: AbortSignal): ClusterSettingsKeeper {
  const { readServiceAccounts: read } = options;
  let first: Promise<void> | undefined;
  let served = false;
  let failures = 0;
  let cancel = (): void => undefined;
  signal.addEventListener('abort', () => cancel(), { once: true });

  async function turn(): Promise<void> {
    if (read === undefined) return;
    cancel();
    try {
      await send(read, options, signal);
      failures = 0;
      if (served) return;
      served = true;
      options.onServed();
    } catch (error) {
      failures += 1;
      if (signal.aborted) return;
      if (error instanceof ManagementError && error.code === 'fenced') {
        options.onFenced(error);
        return;
      }
      const wait = waitAfter(failures, backOff, options.random);
      options.onFailure('', error, wait);
      // Two failures at the same time share one retry.
      cancel();
      cancel = options.schedule(wait, () => void turn());
    }
  }

  return {
    servesServiceAccounts: () => served,
    async refresh() {
      if (first === undefined) await (first = turn());
      else void turn();
    },
  };
}

async function send(
  read: ReadServiceAccounts,
  { management, cluster, epoch: claimed }: ClusterSettingsOptions,
  signal: AbortSignal,
): Promise<void> {
  const [serviceAccounts, epoch] = await Promise.all([read(signal), claimed(signal)]);
  await management.putSettings({ cluster, epoch, service_accounts: serviceAccounts }, signal);
}
