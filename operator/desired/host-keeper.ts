import type { StoredHosts } from '../../api/client/box-hosts.ts';
import type { Management } from '../../api/client/management.ts';
import type { HostReading, HostSource } from './source.ts';

/** Keeps the hosts of all boxes assigned as namespaces grant them. */
export interface HostKeeper {
  /** Resolves when the API has stored the hosts as the source has them now. Throws ManagementError. */
  settle(signal: AbortSignal): Promise<void>;
  /** Does the same even if nothing changed: the database may have been restored to an older state. */
  resend(signal: AbortSignal): Promise<void>;
  /** Returns the hosts of a box that the API did not assign, because a box of another cluster has them. */
  refused(box: string): readonly string[];
}

/** Dependencies of a host keeper. */
export interface HostKeeperOptions {
  readonly hosts: HostSource;
  readonly management: Pick<Management, 'putHosts'>;
  readonly cluster: string;
  readonly epoch: (signal: AbortSignal) => Promise<number>;
  readonly defaultIssuer: (box: string) => string;
  /** Called for each box whose hosts or settings the API has changed, or whose refused hosts differ from before. */
  readonly onChange: (box: string) => void;
}

/**
 * Sends the hosts of all boxes in one call whenever they differ from what was sent, one call at a time. A box that
 * loses a host and the one that gets it are in the same transaction, whatever state their objects are in.
 */
export function keepHosts(options: HostKeeperOptions): HostKeeper {
  const { hosts, onChange } = options;
  let refused: ReadonlyMap<string, readonly string[]> = new Map();
  let stored: number | undefined;
  let running: Promise<void> | undefined;

  async function send(signal: AbortSignal): Promise<void> {
    const { revision, answer } = await putAll(options, signal);
    const before = refused;
    refused = byBox(answer.refused);
    stored = revision;
    const differs = [...before.keys(), ...refused.keys()].filter((box) => !isSame(before.get(box), refused.get(box)));
    for (const box of new Set([...answer.changed, ...differs])) onChange(box);
  }

  async function settle(signal: AbortSignal): Promise<void> {
    while (stored !== hosts.revision()) {
      running ??= send(signal).finally(() => (running = undefined));
      await running;
    }
  }

  return {
    settle,
    async resend(signal) {
      stored = undefined;
      await settle(signal);
    },
    refused: (box) => refused.get(box) ?? none,
  };
}

const none: readonly string[] = [];

/** Sends all hosts; for boxes that only the API names, it reads their namespaces and sends again. */
async function putAll(
  { hosts, management, cluster, epoch, defaultIssuer }: HostKeeperOptions,
  signal: AbortSignal,
): Promise<{ readonly revision: number; readonly answer: StoredHosts }> {
  const put = async ({ boxes }: HostReading): Promise<StoredHosts> =>
    management.putHosts({ cluster, epoch: await epoch(signal), default_issuers: defaultIssuer(''), boxes }, signal);
  const reading = await hosts.read([], signal);
  const first = await put(reading);
  if (first.unnamed.length === 0) return { revision: reading.revision, answer: first };
  const again = await hosts.read(first.unnamed, signal);
  const second = await put(again);
  return { revision: again.revision, answer: { ...second, changed: [...first.changed, ...second.changed] } };
}

function byBox(refused: StoredHosts['refused']): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(refused, ({ box }) => box);
  return new Map([...groups].map(([box, hosts]) => [box, hosts.map(({ host }) => host)]));
}

function isSame(one: readonly string[] = none, other: readonly string[] = none): boolean {
  return one.length === other.length && one.every((host) => other.includes(host));
}
