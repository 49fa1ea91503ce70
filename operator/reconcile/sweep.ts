import { emptyCache, replaceRows, type BoxCache } from './box-cache.ts';
import type { PassContext } from './box-pass.ts';
import type { WorkQueue } from './work-queue.ts';
import type { ServiceAccountSettings } from '../../api/client/cluster.ts';
import type { Management } from '../../api/client/management.ts';

/** Keys of the queue that are no boxes: names of boxes have no slash. */
export const SWEEP = '/sweep';
const SETTINGS = '/settings';

/** Dependencies of the jobs. */
export interface JobOptions {
  readonly context: PassContext;
  readonly settings: ClusterSettings;
  readonly caches: Map<string, BoxCache>;
  /** Requests a pass over everything in a box. */
  readonly compare: (box: string) => void;
  /** Milliseconds between two sweeps; spread by up to a tenth. */
  readonly sweepPeriod: number;
  readonly signal: AbortSignal;
}

/** Work that concerns no single box, by its key in the queue; `firstSweep` resolves after the first success. */
export interface Jobs {
  readonly jobs: ReadonlyMap<string, (queue: WorkQueue) => Promise<void>>;
  readonly firstSweep: Promise<void>;
}

/** Creates the jobs: a sweep, which adds all boxes, and the API's settings of the cluster, sent with each sweep. */
export function createJobs({ context, settings, caches, compare, sweepPeriod, signal }: JobOptions): Jobs {
  const first = Promise.withResolvers<void>();
  async function sweep(queue: WorkQueue): Promise<void> {
    queue.add(SETTINGS);
    // Otherwise statuses from before a restart would be withdrawn in the meantime.
    await settings.tried;
    await findBoxes(context, caches, compare, signal);
    queue.addAfter(SWEEP, sweepPeriod * (0.9 + context.random() / 5));
    first.resolve();
  }
  async function sendSettings(queue: WorkQueue): Promise<void> {
    if (await settings.send(signal)) for (const box of caches.keys()) queue.add(box);
  }
  const jobs = new Map([
    [SWEEP, sweep],
    [SETTINGS, sendSettings],
  ]);
  return { jobs, firstSweep: first.promise };
}

/** Finds every declared or stored box; declared ones also while the API is away. Throws ManagementError. */
async function findBoxes(
  context: PassContext,
  caches: Map<string, BoxCache>,
  found: (box: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const declared = await context.source.boxes(signal);
  let stored: readonly string[] = [];
  try {
    stored = await storedBoxes(context, signal);
    rememberEmpty(declared, stored, caches);
  } finally {
    for (const box of new Set([...declared, ...stored])) found(box);
  }
}

/** Returns the boxes with rows of this cluster in the database, once their hosts are assigned. */
async function storedBoxes(
  { source, management, cluster, epoch, hosts }: PassContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // From now on every call of an older leader is refused.
  await epoch(signal);
  await hosts?.resend(signal);
  const stored = await management.declaredBoxes(cluster, signal);
  // A box whose namespace is missing is left alone until the namespace exists again.
  return stored.filter(({ box, missing }) => missing !== true || source.isListed?.(box) === true).map(({ box }) => box);
}

/** Marks boxes that the database does not have as known: they need no comparison. */
function rememberEmpty(declared: readonly string[], stored: readonly string[], caches: Map<string, BoxCache>): void {
  const known = new Set(stored);
  for (const box of declared) {
    if (known.has(box) || caches.has(box)) continue;
    const cache = emptyCache();
    replaceRows(cache.stored, new Map());
    caches.set(box, cache);
  }
}

/** Reads the issuer and keys of ServiceAccount tokens. Throws if it cannot; the API then keeps what was sent. */
export type ReadServiceAccounts = (signal: AbortSignal) => Promise<ServiceAccountSettings>;

/** The API's settings of this cluster. */
interface ClusterSettings {
  /** Resolves after the first attempt to send them, successful or not. */
  readonly tried: Promise<void>;
  /** Checks whether the API knows the issuer and keys of ServiceAccount tokens. */
  readonly isServed: () => boolean;
  /** Reads and sends all of them; returns true the first time. Throws what the read throws, and ManagementError. */
  send(signal: AbortSignal): Promise<boolean>;
}

/** Dependencies of the settings. */
interface ClusterSettingsOptions {
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
