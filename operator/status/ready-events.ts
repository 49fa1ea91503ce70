import type { EventRecorder } from './events.ts';
import type { Condition, ObjectStatus } from './object-status.ts';
import type { Reason } from './reasons.ts';

/**
 * Records that an object is not Ready, as a warning with the reason and message of its condition: when it ceases to be,
 * is new, or has another reason. Records that it is Ready again. `before` is the status that was published last. A
 * reason that passes by itself is no news of the object: it concerns all objects at once.
 */
export function recordReadiness(before: ObjectStatus | undefined, now: ObjectStatus, events: EventRecorder): void {
  const [was, is] = [readyOf(before), readyOf(now)];
  if (is === undefined || passing.has(is.reason) || (is.status === 'True' && passing.has(was?.reason ?? ''))) return;
  const { kind, namespace, name, uid } = now;
  const said = { object: { kind, namespace, name, uid }, reason: is.reason, isInStatus: true } as const;
  if (is.status === 'False' && (was?.status !== 'False' || was.reason !== is.reason)) {
    events.record({ ...said, type: 'Warning', message: is.message });
  } else if (is.status === 'True' && was?.status === 'False') {
    events.record({ ...said, type: 'Normal', message: `It is Ready again, after ${was.reason}` });
  }
}

/** Reasons that the operator removes without anybody's help. An outage of the API has an event of its own. */
const passing: ReadonlySet<string> = new Set<Reason>(['SecretNotRead', 'Unavailable', 'Waiting']);

function readyOf(status: ObjectStatus | undefined): Condition | undefined {
  return status?.conditions.find(({ type }) => type === 'Ready');
}
