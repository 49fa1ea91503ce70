import type { AuditEventName } from '../audit/events.ts';
import type { NoteEvent } from '../audit/recorded.ts';
import type { ApplyHead } from '../client/desired-state.ts';
import { demandFewUsers, endBoxData } from '../db/box/box-data.ts';
import { bumpVersion } from '../db/box/box.ts';
import { adoptRows, bindBox, lockBox, readBinding, reopenBox, retireBox } from '../db/box/namespace.ts';
import type { Connection } from '../db/core/transaction.ts';
import { lockEpoch } from '../db/box/cluster-settings.ts';
import type { Binding } from '../db/box/namespace.ts';
import type { Box } from '../../crds/box.ts';
import { claimHosts, holdHosts } from '../db/box/box-host.ts';
import type { ValidatedLine } from './plan.ts';

/** Refusal of a call whose epoch has ended, because a later leader has claimed one. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

/** Checks that an epoch of a cluster is the present one, and holds it until the transaction ends. Throws Fenced. */
export async function demandEpoch(connection: Connection, cluster: string, epoch: number): Promise<void> {
  const counts = await lockEpoch(connection, cluster);
  if (counts !== epoch)
    throw new Fenced(`epoch ${String(epoch)} has ended; the current epoch is ${String(counts ?? 0)}`);
}

/** The box is bound to another namespace: nothing was applied. */
export class Locked extends Error {
  override readonly name = 'Locked';
  /** The uid of the namespace that it is bound to. */
  readonly bound: string;

  constructor(message: string, bound: string) {
    super(message);
    this.bound = bound;
  }
}

/** The transaction of an apply, and its events. */
export interface Applying {
  readonly connection: Connection;
  readonly note: NoteEvent;
}

/**
 * Carries out the verdict on the namespace of a call; returns the refusal if it is not the box's own. Throws ManyUsers.
 */
export async function settleClaim(
  { connection, note }: Applying,
  box: string,
  head: ApplyHead,
): Promise<Locked | undefined> {
  const binding = await readBinding(connection, box);
  const verdict = decideClaim(head, binding);
  if (verdict === 'proceed') return undefined;
  if (verdict === 'discard') await demandFewUsers(connection, box);
  const { uid = '' } = head.namespace ?? {};
  const event = claimEvents[verdict];
  if (event !== undefined) note({ event, target: `Box/${box}` });
  const bump = (): Promise<number> => bumpVersion(connection, box);
  const bind = (): Promise<void> => bindBox(connection, box, head.cluster, uid);
  switch (verdict) {
    case 'refuse':
      return new Locked(lockedMessage(box, binding), binding.uid ?? '');
    case 'lock':
      await bump();
      await lockBox(connection, box, uid);
      return new Locked(lockedMessage(box, binding), binding.uid ?? '');
    case 'retire':
      await bump();
      await retireBox(connection, box);
      return undefined;
    case 'reopen':
      await bump();
      await reopenBox(connection, box);
      return undefined;
    case 'bind':
      if (binding.missing) await bump();
      await bind();
      return undefined;
    case 'resume':
      await bump();
      await bind();
      return undefined;
    case 'adopt':
      await bump();
      await adoptRows(connection, box, binding.cluster ?? head.cluster, head.cluster);
      await bind();
      return undefined;
    case 'discard':
      await endBoxData(connection, box, await bump(), 'all');
      await bind();
      return undefined;
  }
}

/** The events of verdicts on a namespace; binding a box for the first time is none. */
const claimEvents = {
  lock: 'box.locked',
  retire: 'box.closed',
  resume: 'box.reopened',
  reopen: 'box.reopened',
  adopt: 'box.adopted',
  discard: 'box.data_deleted',
  refuse: undefined,
  bind: undefined,
} as const satisfies Record<Exclude<ClaimVerdict, 'proceed'>, AuditEventName | undefined>;

/**
 * Action of a call on the namespace of its box: none; take the box out of service because the namespace is missing
 * (`retire`), or bring it back (`resume`, or `reopen` if no namespace is bound to it); bind the box to it for the first
 * time; bind it again with its data (`adopt`) or without (`discard`); refuse the call, and `lock` the box with it.
 */
type ClaimVerdict = 'proceed' | 'bind' | 'resume' | 'reopen' | 'retire' | 'adopt' | 'discard' | 'lock' | 'refuse';

/**
 * Validates the namespace that a call names. Pure. A box is locked only by its own cluster: a namespace of the same
 * name in another cluster is no reason to switch anything off.
 */
export function decideClaim({ cluster, namespace, missing }: ApplyHead, binding: Binding): ClaimVerdict {
  const ours = binding.cluster === undefined || binding.cluster === cluster;
  if (missing === true && ours && !binding.missing) return 'retire';
  if (namespace === undefined) {
    if (binding.locked) return 'refuse';
    // In a folder there are no namespaces: a box that is declared again is served again.
    return binding.missing && missing !== true && binding.cluster === undefined ? 'reopen' : 'proceed';
  }
  if (binding.uid === undefined) return ours ? 'bind' : 'refuse';
  const same = ours && binding.uid === namespace.uid;
  if (same && !binding.locked) return binding.missing ? 'resume' : 'proceed';
  const adopts = namespace.adopt === binding.uid;
  const discards = namespace.discard === binding.uid;
  // Both at once is no decision.
  if (adopts !== discards) return adopts ? 'adopt' : 'discard';
  return ours && !binding.locked ? 'lock' : 'refuse';
}

/** Returns the reason why a call is refused, for people. */
export function lockedMessage(box: string, { cluster, uid }: Binding): string {
  const bound = uid === undefined ? 'a namespace' : `the namespace with uid ${uid}`;
  return `box ${box} is bound to ${bound}${cluster === undefined ? '' : ` of cluster ${cluster}`}`;
}

/**
 * Returns the lines with the Box reduced to the hosts that its box has, and the reason for the others. In a cluster
 * hosts were assigned before (`PUT /hosts`); without namespaces nobody grants them: the Box claims them.
 */
export async function withOwnHosts(
  connection: Connection,
  box: string,
  { cluster, namespace }: ApplyHead,
  lines: readonly ValidatedLine[],
): Promise<readonly ValidatedLine[]> {
  const settings = lines.find(({ resource }) => resource?.resourceType === 'Box');
  if (settings?.resource?.resourceType !== 'Box') return lines;
  const { resource } = settings;
  if (namespace === undefined) await claimHosts(connection, box, cluster, resource.hosts ?? []);
  const held = resource.hosts === undefined ? new Set<string>() : await holdHosts(connection, box);
  const missing = namespace === undefined ? 'belongs to another box' : 'is not assigned to this box';
  const own = ownSettings(settings, resource, held, missing);
  return lines.map((line) => (line === settings ? own : line));
}

function ownSettings(line: ValidatedLine, resource: Box, held: ReadonlySet<string>, missing: string): ValidatedLine {
  const { hosts = [], issuer, ...rest } = resource;
  const foreign = hosts.filter((host) => !held.has(host));
  if (foreign.length === 0) return line;
  const isForeignIssuer = issuer !== undefined && foreign.includes(new URL(issuer).hostname);
  const own: Box = {
    ...rest,
    hosts: hosts.filter((host) => held.has(host)),
    ...(issuer === undefined || isForeignIssuer ? {} : { issuer }),
  };
  const faults = foreign.map((host) => ({ path: 'hosts', message: `${host} ${missing}` }));
  return { ...line, resource: own, unusable: [...(line.unusable ?? []), ...faults], isPartial: true };
}
