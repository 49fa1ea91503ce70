import type { AuditResult, StoredAuditEvent } from '../db/audit/audit-event.ts';
import { newAuditId } from './audit-id.ts';
import type { AuditEventName } from './events.ts';

/** The actor of a change, and the request that it came with. */
export interface Origin {
  readonly client?: string | undefined;
  readonly user?: number | undefined;
  readonly remoteAddr?: string | undefined;
  /** The cluster whose operator acts, or a command of the installation. */
  readonly operator?: string | undefined;
  readonly session?: string | undefined;
  readonly requestId?: string | undefined;
}

/** A security event, without its origin. */
export interface SecurityEvent {
  readonly event: AuditEventName;
  /** `<kind>/<id>`. */
  readonly target?: string | undefined;
  /** Absent: `success`. */
  readonly result?: AuditResult;
  /** The user who joined or left the target. */
  readonly member?: number;
  /** Names of fields. */
  readonly changed?: readonly string[];
}

/** The audit trail of one request or call. */
export interface AuditTrail {
  readonly origin: Origin;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Writes records to the log. */
  readonly log: (box: string, records: readonly StoredAuditEvent[]) => void;
}

/** Returns the records of events of one origin, in their order. */
export function recordsOf({ origin, now }: AuditTrail, events: readonly SecurityEvent[]): readonly StoredAuditEvent[] {
  const time = now();
  return events.map((event, index) => recordOf(newAuditId(time, index), event, origin, 1));
}

/** Returns the record of an event that has happened `count` times. */
export function recordOf(
  id: string,
  { event, target, result = 'success', member, changed }: SecurityEvent,
  { client, user, remoteAddr, operator, session, requestId }: Origin,
  count: number,
): StoredAuditEvent {
  const actor = { client, user, remoteAddr, operator, session, requestId };
  return { id, event, result, ...actor, target, member, changed, count };
}
