import { HOST_NAME } from '../../crds/fields.ts';
import { grantCommand } from './candidates.ts';
import type { HostGrants, RefusedHost, HostReading, HostSource } from './source.ts';
import type { StoredHosts } from '../../api/client/cluster.ts';
import type { Management } from '../../api/client/management.ts';

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
interface HostKeeperOptions {
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

/** The annotation of a Namespace by which an admin grants hosts to its box. */
export const HOSTS_ANNOTATION = 'boxgate.dev/hosts';

/** The hosts that the Box of a namespace claims, and what its Namespace grants. */
export interface HostClaim {
  readonly box: string;
  readonly uid: string;
  /** Sortable by age as text: of two claims the older one wins. */
  readonly created: string;
  readonly hosts: readonly string[];
  readonly granted: readonly string[];
}

/** Decides by box which hosts it gets: granted ones, and of two boxes that claim a host the older one gets it. Pure. */
export function validateHosts(claims: readonly HostClaim[], publicHost: string): ReadonlyMap<string, HostGrants> {
  const holders = new Map<string, string>();
  const verdicts = new Map<string, HostGrants>();
  for (const claim of [...claims].sort(byAge)) verdicts.set(claim.box, verdictOf(claim, holders, publicHost));
  return verdicts;
}

const hostName = new RegExp(HOST_NAME);

/** Returns the host names among texts, in lower case, without those that no box gets. */
export function assignableHosts(texts: readonly string[], publicHost: string): readonly string[] {
  const hosts = new Set(texts.map((text) => text.toLowerCase()));
  return [...hosts].filter((host) => host.length <= 253 && hostName.test(host) && !isOurs(host, publicHost));
}

/** Returns a verdict without the hosts that the API could not assign, because a box of another cluster has them. */
export function withoutTaken({ allowed, refused }: HostGrants, hosts: readonly string[]): HostGrants {
  const lost = allowed.filter((host) => hosts.includes(host));
  if (lost.length === 0) return { allowed, refused };
  return { allowed: allowed.filter((host) => !lost.includes(host)), refused: [...refused, ...lost.map(taken)] };
}

function byAge(one: HostClaim, other: HostClaim): number {
  const [first, second] = [`${one.created} ${one.uid}`, `${other.created} ${other.uid}`];
  return first < second ? -1 : first > second ? 1 : 0;
}

function verdictOf({ box, hosts, granted }: HostClaim, holders: Map<string, string>, publicHost: string): HostGrants {
  const grants = new Set(granted.map((host) => host.toLowerCase()));
  const allowed: string[] = [];
  const refused: RefusedHost[] = [];
  for (const host of new Set(hosts.map((one) => one.toLowerCase()))) {
    const why = isOurs(host, publicHost) ? ours(host) : grants.has(host) ? undefined : notGranted(host, box);
    const refusal = why ?? (holders.has(host) ? taken(host) : undefined);
    if (refusal !== undefined) refused.push(refusal);
    else {
      holders.set(host, box);
      allowed.push(host);
    }
  }
  return { allowed, refused };
}

/** Checks for names of the installation, which lead to every box: nobody gets one of them, even if it is granted. */
function isOurs(host: string, publicHost: string): boolean {
  return host === publicHost.toLowerCase() || /\.svc(\.|$)/.test(host);
}

function ours(host: string): RefusedHost {
  return { host, reason: 'HostNotGranted', message: `${host} is a name of the installation or of the cluster` };
}

function notGranted(host: string, box: string): RefusedHost {
  const command = grantCommand(box, HOSTS_ANNOTATION, [host]);
  return { host, reason: 'HostNotGranted', message: `the namespace does not grant ${host} (an admin may: ${command})` };
}

function taken(host: string): RefusedHost {
  return { host, reason: 'HostConflict', message: `another box has ${host}` };
}
