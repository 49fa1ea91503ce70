import type { ServiceAccountSettings } from '../api/client/cluster-settings.ts';
import type { Management } from '../api/client/management.ts';
import { ManagementError } from '../api/client/management-error.ts';
import { waitAfter, type BackOff } from './back-off.ts';
import type { QueueOptions } from './queue.ts';

/** Where it is known who makes the tokens of ServiceAccounts. Throws when it cannot be read: then what was sent stays. */
export type ReadServiceAccounts = (signal: AbortSignal) => Promise<ServiceAccountSettings>;

/** Keeps the API knowing what it must know of the cluster. */
export interface ClusterSettingsKeeper {
  /** Whether the API has been told who makes the tokens of ServiceAccounts. */
  readonly servesServiceAccounts: () => boolean;
  /**
   * Reads and sends now. Never throws: what failed is told, and tried again until it works. Only the first time it is
   * waited for, whether it went well or not: else statuses of before a restart would be taken back meanwhile.
   */
  refresh(): Promise<void>;
}

/** What the keeper works with. */
export interface ClusterSettingsOptions {
  /** Absent where there are no ServiceAccounts: then nothing is sent. */
  readonly readServiceAccounts?: ReadServiceAccounts;
  readonly management: Management;
  readonly cluster: string;
  readonly epoch: (signal: AbortSignal) => Promise<number>;
  readonly random: () => number;
  readonly schedule: QueueOptions['schedule'];
  /** Called when the API has been told for the first time. */
  readonly onServed: () => void;
  /** Hears of every failure (of no box), and how many milliseconds it waits until it tries again. */
  readonly onFailure: (box: string, error: unknown, wait: number) => void;
  /** Somebody else leads: nothing is tried again. */
  readonly onFenced: (error: ManagementError) => void;
}

/** Two small documents: they are asked for again soon. */
const backOff: BackOff = { first: 200, ceiling: 4_000 };

/**
 * Sends what the API must know of the cluster whenever it is told to, until aborted. All of it each time: the API stores
 * what differs, and its database may have gone back to an older state.
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
      if (error instanceof ManagementError && error.sort === 'fenced') {
        options.onFenced(error);
        return;
      }
      const wait = waitAfter(failures, backOff, options.random);
      options.onFailure('', error, wait);
      // Two that fail at once have one next try.
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
