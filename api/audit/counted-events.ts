import type { AuditEventOfBox } from '../db/audit/audit-event.ts';
import type { Origin, SecurityEvent } from './audit-trail.ts';
import { newAuditId } from './audit-id.ts';

/** An event that is not stored by itself: those of the same address and target within a minute are one record. */
export interface CountedEvent extends Pick<SecurityEvent, 'event' | 'target' | 'result'> {
  readonly box: string;
  /** Origin; a record has that of its first event. */
  readonly origin: Origin;
}

/** Events counted in memory: noting one waits for nothing. */
export interface CountedEvents {
  /** Counts an event. */
  note(event: CountedEvent): void;
  /**
   * Takes the records that are due, a bounded number at once: a first event immediately, further ones a minute later.
   * `all`: whatever is counted.
   */
  take(all?: boolean): readonly AuditEventOfBox[];
  /** Events that were not counted, because too many boxes have some. */
  readonly refused: number;
}

/** Bounds of counted events. */
export interface CountedLimits {
  /** Records a minute of one box about failures and denials. */
  readonly failures: number;
  /** The same for sign-ins and what else succeeded: a flood of failures does not displace them. */
  readonly successes: number;
  /** Records of all boxes that are counted at once. */
  readonly records: number;
  /** Records that are taken at once: making and logging them holds up the event loop. */
  readonly taken: number;
}

/** Default bounds: a record a second of failures of one box, ten of successes. */
export const defaultCountedLimits: CountedLimits = { failures: 60, successes: 600, records: 50_000, taken: 1_000 };

/** Milliseconds during which events of one kind, address and target are one record. */
const minute = 60_000;

/** A record in the making. */
interface Counted {
  event: CountedEvent;
  /** Time of the first event that is not recorded yet. */
  since: number;
  pending: number;
  takenAt: number | undefined;
}

/** Counted events of a box, by what makes them one record. */
interface OfBox {
  readonly failures: Map<string, Counted>;
  readonly successes: Map<string, Counted>;
}

/** Creates the counts of a process. `now` in milliseconds since 1970. */
export function createCountedEvents(limits: CountedLimits, now: () => number): CountedEvents {
  const boxes = new Map<string, OfBox>();
  let [records, refused] = [0, 0];

  function note(event: CountedEvent): void {
    const ofBox = boxes.get(event.box) ?? { failures: new Map(), successes: new Map() };
    boxes.set(event.box, ofBox);
    const side = event.result === 'failure' || event.result === 'denied' ? 'failures' : 'successes';
    const known = ofBox[side];
    const key = [event.event, event.result, event.origin.remoteAddr, event.target].join(' ');
    if (known.has(key) || known.size < limits[side]) count(known, key, event);
    else count(known, `${event.event} ${String(event.result)}`, withoutDetails(event));
  }

  function count(known: Map<string, Counted>, key: string, event: CountedEvent): void {
    const found = known.get(key);
    if (found !== undefined) {
      if (found.pending === 0) [found.since, found.event] = [now(), event];
      found.pending += 1;
    } else if (records < limits.records) {
      known.set(key, { event, since: now(), pending: 1, takenAt: undefined });
      records += 1;
    } else refused += 1;
  }

  function take(all = false): readonly AuditEventOfBox[] {
    const time = now();
    const due: AuditEventOfBox[] = [];
    for (const [box, { failures, successes }] of boxes) {
      for (const known of [failures, successes]) {
        for (const [key, counted] of known) {
          const isOver = counted.takenAt === undefined || time - counted.takenAt >= minute;
          const isDue = counted.pending > 0 && (all || isOver);
          if (isDue && (all || due.length < limits.taken)) due.push(taken(counted, time, due.length));
          else if (counted.pending === 0 && isOver) {
            known.delete(key);
            records -= 1;
          }
        }
      }
      if (failures.size + successes.size === 0) boxes.delete(box);
    }
    return due;
  }

  return {
    note,
    take,
    get refused() {
      return refused;
    },
  };
}

/** Returns an event beyond the share of its box: only its kind is counted. */
function withoutDetails({ box, event, result }: CountedEvent): CountedEvent {
  return { box, event, origin: {}, ...(result && { result }) };
}

/** Makes the record of what is pending. */
function taken(counted: Counted, time: number, index: number): AuditEventOfBox {
  const { event, since, pending } = counted;
  const { client, user, remoteAddr, session, requestId } = event.origin;
  counted.pending = 0;
  counted.takenAt = time;
  return {
    id: newAuditId(since, index),
    box: event.box,
    event: event.event,
    result: event.result ?? 'success',
    client,
    user,
    remoteAddr,
    operator: undefined,
    session,
    requestId,
    target: event.target,
    member: undefined,
    changed: undefined,
    count: pending,
  };
}
