import type { ServiceAccountSettings } from '../api/client/cluster-settings.ts';
import type { Management } from '../api/client/management.ts';

/** Reads the issuer and keys of ServiceAccount tokens. Throws if it cannot; the API then keeps what was sent. */
export type ReadServiceAccounts = (signal: AbortSignal) => Promise<ServiceAccountSettings>;

/** The API's settings of this cluster. */
export interface ClusterSettings {
  /** Resolves after the first attempt to send them, successful or not. */
  readonly tried: Promise<void>;
  /** Checks whether the API knows the issuer and keys of ServiceAccount tokens. */
  readonly isServed: () => boolean;
  /** Reads and sends all of them; returns true the first time. Throws what the read throws, and ManagementError. */
  send(signal: AbortSignal): Promise<boolean>;
}

/** Dependencies of the settings. */
export interface ClusterSettingsOptions {
  /** Absent if there are no ServiceAccounts: then nothing is sent. */
  readonly readServiceAccounts?: ReadServiceAccounts;
  readonly management: Pick<Management, 'putSettings'>;
  readonly cluster: string;
  readonly epoch: (signal: AbortSignal) => Promise<number>;
}

/** Returns the settings. All are sent each time, because the database may have been restored to an older state. */
export function createClusterSettings(options: ClusterSettingsOptions): ClusterSettings {
  const { readServiceAccounts: read, management, cluster, epoch: claimed } = options;
  const tried = Promise.withResolvers<void>();
  let isServed = false;
  return {
    tried: tried.promise,
    isServed: () => isServed,
    async send(signal) {
      try {
        if (read === undefined) return false;
        const [serviceAccounts, epoch] = await Promise.all([read(signal), claimed(signal)]);
        await management.putSettings({ cluster, epoch, service_accounts: serviceAccounts }, signal);
        const isFirst = !isServed;
        isServed = true;
        return isFirst;
      } finally {
        tried.resolve();
      }
    },
  };
}
