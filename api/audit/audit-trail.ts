import { uuidText } from '../../program/text.ts';
import { fillUuidV7 } from '../credentials/token-text.ts';
import type { AuditResult, StoredAuditEvent } from '../db/audit/audit-event.ts';
import type { RefusalReason } from '../schemas/refusals.ts';
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
  /** The reason of a refused request. */
  readonly reason?: RefusalReason | undefined;
  /** The part of the request that the reason is about, or a sentence about it. */
  readonly sent?: string | undefined;
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
  { event, target, result = 'success', member, changed, reason, sent }: SecurityEvent,
  { client, user, remoteAddr, operator, session, requestId }: Origin,
  count: number,
): StoredAuditEvent {
  const actor = { client, user, remoteAddr, operator, session, requestId };
  return { id, event, result, ...actor, target, member, changed, reason, sent, count };
}

/**
 * Returns the id of a new record, a UUIDv7 (RFC 9562 §5.7); `time` in milliseconds since 1970. Records of one time are
 * in the order of their `index` (§6.2, method 1).
 */
export function newAuditId(time: number, index = 0): string {
  const bytes = Buffer.alloc(16);
  fillUuidV7(bytes, 0, time);
  bytes.writeUInt16BE(0x7000 | Math.min(index, 0xfff), 6);
  return uuidText(bytes.toString('hex'));
}
