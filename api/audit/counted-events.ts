import type { AuditEventOfBox } from '../db/audit/audit-event.ts';
import { newAuditId, recordOf } from './audit-trail.ts';
import type { Origin, SecurityEvent } from './audit-trail.ts';

/**
 * An event that is not stored by itself: those of the same address, target and reason within a minute are one record.
 * Up to half the share of its box, each refusal is a record, so that it is found by the ID of its request.
 */
export interface CountedEvent extends Pick<SecurityEvent, 'event' | 'target' | 'result' | 'reason' | 'sent'> {
  readonly box: string;
  /** Origin; a record has what the origins of all its events have in common. */
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
  /** Records a minute of one box about failures: proofs that were wrong, and guesses that were refused. */
  readonly failures: number;
  /** The same for requests that no policy grants: a flood of them with one token does not displace failures. */
  readonly denials: number;
  /** The same for sign-ins and what else succeeded: a flood of failures does not displace them. */
  readonly successes: number;
  /** Records of all boxes that are counted at once. */
  readonly records: number;
  /** Records that are taken at once: making and logging them holds up the event loop. */
  readonly taken: number;
}

/** Default bounds: two records a second of failures of one box, two of denials, ten of successes. */
export const defaultCountedLimits: CountedLimits = {
  ...{ failures: 120, denials: 120, successes: 600 },
  ...{ records: 50_000, taken: 1_000 },
};

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
type OfBox = Readonly<Record<Side, Map<string, Counted>>>;

/** Kinds of events that do not displace each other. */
type Side = 'failures' | 'denials' | 'successes';

/** Creates the counts of a process. `now` in milliseconds since 1970. */
export function createCountedEvents(limits: CountedLimits, now: () => number): CountedEvents {
  const boxes = new Map<string, OfBox>();
  let [records, refused] = [0, 0];

  function note(event: CountedEvent): void {
    const ofBox = boxes.get(event.box) ?? { failures: new Map(), denials: new Map(), successes: new Map() };
    boxes.set(event.box, ofBox);
    const side = sideOf(event);
    const known = ofBox[side];
    const { origin, target, reason } = event;
    const single = side !== 'successes' && known.size < limits[side] / 2 ? origin.requestId : '';
    const key = [event.event, event.result, origin.remoteAddr, target, reason, single].join(' ');
    if (known.has(key) || known.size < limits[side]) count(known, key, event);
    else count(known, `${event.event} ${String(event.result)}`, withoutDetails(event));
  }

  function count(known: Map<string, Counted>, key: string, event: CountedEvent): void {
    const found = known.get(key);
    if (found !== undefined) {
      if (found.pending === 0) found.since = now();
      found.event = found.pending === 0 ? event : withCommon(found.event, event);
      found.pending += 1;
    } else if (records < limits.records) {
      known.set(key, { event, since: now(), pending: 1, takenAt: undefined });
      records += 1;
    } else refused += 1;
  }

  function take(all = false): readonly AuditEventOfBox[] {
    const time = now();
    forgetIdle(time);
    const taken: AuditEventOfBox[] = [];
    for (const counted of countedOf(boxes)) {
      if (!all && taken.length >= limits.taken) break;
      if (counted.pending === 0 || (!all && !isOver(counted, time))) continue;
      taken.push(pendingRecord(counted, taken.length));
      counted.pending = 0;
      counted.takenAt = time;
    }
    return taken;
  }

  function forgetIdle(time: number): void {
    for (const [box, ofBox] of boxes) {
      const sides = Object.values(ofBox);
      for (const known of sides) records -= removeIdle(known, time);
      if (sides.every(({ size }) => size === 0)) boxes.delete(box);
    }
  }

  return {
    note,
    take,
    get refused() {
      return refused;
    },
  };
}

function sideOf({ event, result }: CountedEvent): Side {
  if (event === 'access.denied') return 'denials';
  return result === 'failure' || result === 'denied' ? 'failures' : 'successes';
}

/** Returns an event with what it has in common with another one of its record. */
function withCommon(one: CountedEvent, other: CountedEvent): CountedEvent {
  return { ...one, sent: one.sent === other.sent ? one.sent : undefined, origin: commonOrigin(one, other) };
}

/** Returns what two origins have in common: a record names nobody who took part in only some of its events. */
function commonOrigin({ origin: one }: CountedEvent, { origin: other }: CountedEvent): Origin {
  const isSame = one.client === other.client && one.user === other.user;
  return {
    remoteAddr: one.remoteAddr,
    ...(isSame && { client: one.client, user: one.user }),
    ...(isSame && one.session === other.session && { session: one.session }),
    ...(one.requestId === other.requestId && { requestId: one.requestId }),
  };
}

/** Returns an event beyond the share of its box: only its kind is counted. */
function withoutDetails({ box, event, result }: CountedEvent): CountedEvent {
  return { box, event, origin: {}, ...(result && { result }) };
}

/** Returns whatever is counted, of one box after the other. */
function* countedOf(boxes: ReadonlyMap<string, OfBox>): Iterable<Counted> {
  for (const ofBox of boxes.values()) {
    for (const known of Object.values(ofBox)) yield* known.values();
  }
}

/** Removes what has not happened in the minute after its last record, and returns the number of removed entries. */
function removeIdle(known: Map<string, Counted>, time: number): number {
  const before = known.size;
  for (const [key, counted] of known) {
    if (counted.pending === 0 && isOver(counted, time)) known.delete(key);
  }
  return before - known.size;
}

/** Checks whether the minute after the last record is over. */
function isOver({ takenAt }: Counted, time: number): boolean {
  return takenAt === undefined || time - takenAt >= minute;
}

/** Returns the record of what is pending. */
function pendingRecord({ event, since, pending }: Counted, index: number): AuditEventOfBox {
  return { ...recordOf(newAuditId(since, index), event, event.origin, pending), box: event.box };
}
