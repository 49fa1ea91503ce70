import type { EventRecorder } from './events.ts';
import type { Condition, ObjectStatus } from './object-status.ts';

/**
 * Records that an object is not Ready, as a warning with the reason and message of its condition: when it ceases to be,
 * is new, or has another reason. Records that it is Ready again. `before` is the status that was published last.
 */
export function recordReadiness(before: ObjectStatus | undefined, now: ObjectStatus, events: EventRecorder): void {
  const [was, is] = [readyOf(before), readyOf(now)];
  if (is === undefined) return;
  const { kind, namespace, name, uid } = now;
  const said = { object: { kind, namespace, name, uid }, reason: is.reason, isInStatus: true } as const;
  if (is.status === 'False' && (was?.status !== 'False' || was.reason !== is.reason)) {
    events.record({ ...said, type: 'Warning', message: is.message });
  } else if (is.status === 'True' && was?.status === 'False') {
    events.record({ ...said, type: 'Normal', message: `It is Ready again, after ${was.reason}` });
  }
}

function readyOf(status: ObjectStatus | undefined): Condition | undefined {
  return status?.conditions.find(({ type }) => type === 'Ready');
}
