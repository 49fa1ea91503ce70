import type { EventRecorder } from '../status/events.ts';
import type { TerminatingObject, Finalizers } from './finalizers.ts';
import type { QueueOptions } from './queue.ts';

/** Dependencies of the deadlines. */
export interface DeadlineOptions {
  readonly finalizers: Finalizers;
  /** Milliseconds that a deleted object waits for an API that cannot be reached. */
  readonly holdLimit: number;
  /** Checks whether the declarations of a box cannot be carried out at present. */
  readonly isFailing: (box: string) => boolean;
  readonly events: EventRecorder;
  readonly schedule: QueueOptions['schedule'];
  readonly onFailure: (box: string, error: unknown, wait: number) => void;
}

/** Milliseconds between two checks of the waiting objects. */
const period = 1_000;

/**
 * Releases objects that have waited too long for an API that cannot be reached: a deletion, and with it the namespace,
 * must never hang. An event says that their rows still work; they are removed once the API is back. An object whose box
 * is merely slow keeps waiting. Stops when aborted.
 */
export function startDeadlines(options: DeadlineOptions, signal: AbortSignal): void {
  let cancel = (): void => undefined;
  /** By uid. */
  const told = new Set<string>();
  const next = (): void => {
    if (signal.aborted) return;
    tellWaiting(options, told);
    cancel = options.schedule(period, () => void releaseOverdue(options, signal).finally(next));
  };
  signal.addEventListener('abort', () => cancel(), { once: true });
  next();
}

/** Message for an object whose deletion waits for the API. */
export const DELETION_WAITS =
  'the deletion waits for the API, which does not answer: what the object declared still works. It goes on by itself when the API is back, or after a while without it';

/** Milliseconds: a shorter wait of a deletion is not reported. */
const patience = 2_000;

/** Reports once each object that waits for an API that cannot be reached. */
function tellWaiting({ finalizers, isFailing, events }: DeadlineOptions, told: Set<string>): void {
  const going = finalizers.terminating();
  for (const uid of told) if (!going.some((one) => one.uid === uid)) told.delete(uid);
  for (const { kind, namespace, name, uid, waited } of going) {
    if (waited < patience || told.has(uid) || !isFailing(namespace)) continue;
    told.add(uid);
    const object = { kind, namespace, name, uid };
    events.record({ object, type: 'Warning', reason: 'DeletionWaits', message: DELETION_WAITS });
  }
}

async function releaseOverdue(options: DeadlineOptions, signal: AbortSignal): Promise<void> {
  const { finalizers, holdLimit, isFailing, events, onFailure } = options;
  const overdue = finalizers
    .terminating()
    .filter(({ waited, namespace }) => waited >= holdLimit && isFailing(namespace));
  for (const [box, objects] of Map.groupBy(overdue, ({ namespace }) => namespace)) {
    // Before the release: afterwards there is no object left that could show the event.
    for (const object of objects) {
      const event = rowRemains(object, holdLimit);
      events.record(event);
      // A terminating namespace accepts no events.
      onFailure(box, new Error(`${event.reason}: ${object.kind} ${object.name}: ${event.message}`), 0);
    }
    try {
      await finalizers.remove(box, objects, signal);
    } catch (error) {
      if (!signal.aborted) onFailure(box, error, period);
    }
  }
}

function rowRemains(object: TerminatingObject, holdLimit: number) {
  const { kind, namespace, name, uid } = object;
  const waited = `${String(Math.round(holdLimit / 1000))} s`;
  const message = `The API could not be reached for ${waited}: the object is released, and what it declared works until the API is back. Then it is removed first. Look at the pods of the API and at Postgres`;
  return { object: { kind, namespace, name, uid }, type: 'Warning', reason: 'RowRemains', message } as const;
}
