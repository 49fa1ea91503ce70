import type { AuditEventName } from '../audit/events.ts';
import type { NoteEvent } from '../audit/recorded.ts';
import type { ApplyHead } from '../client/desired-state.ts';
import { demandFewUsers, endBoxData } from '../db/box/box-data.ts';
import { bumpVersion } from '../db/box/box.ts';
import { adoptRows, bindBox, lockBox, readBinding, reopenBox, retireBox } from '../db/box/namespace.ts';
import type { Connection } from '../db/core/transaction.ts';
import { decideClaim, lockedMessage } from './namespace-claim.ts';
import type { ClaimVerdict } from './namespace-claim.ts';

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
