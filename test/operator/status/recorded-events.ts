import type { EventRecorder, ObjectEvent } from '../../../operator/status/status.ts';

/** A recorder that keeps what it hears of. */
export interface RecordedEvents extends EventRecorder {
  readonly recorded: ObjectEvent[];
}

/** A recorder that has heard of nothing. */
export function recordedEvents(): RecordedEvents {
  const recorded: ObjectEvent[] = [];
  return { recorded, record: (event) => void recorded.push(event) };
}
