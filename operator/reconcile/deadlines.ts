import type { EventRecorder } from '../status/status.ts';
import { deletionWaits, type Failure } from '../status/reconcile-result.ts';
import type { TerminatingObject, Finalizers } from '../desired/source.ts';
import type { QueueOptions } from './work-queue.ts';

/** Dependencies of the deadlines. */
export interface DeadlineOptions {
  readonly finalizers: Finalizers;
  /** Milliseconds that a deleted object waits while its box cannot be reconciled. */
  readonly holdLimit: number;
  /** Returns why the declarations of a box cannot be carried out at present; undefined if they can. */
  readonly failureOf: (box: string) => Failure | undefined;
  readonly events: EventRecorder;
  readonly schedule: QueueOptions['schedule'];
  readonly onFailure: (box: string, error: unknown, wait: number) => void;
}

/** Milliseconds between two checks of the waiting objects. */
const period = 1_000;

/**
 * Releases objects that have waited too long while no pass over their box succeeds, mostly because the API cannot be
 * reached: a deletion, and with it the namespace, must never hang. An event says that their rows still work; the next
 * pass that succeeds removes them first. An object whose box is merely slow keeps waiting. Stops when aborted.
 */
export function startDeadlines(options: DeadlineOptions, signal: AbortSignal): void {
  let cancel = (): void => undefined;
  const next = (): void => {
    if (signal.aborted) return;
    reportWaiting(options);
    cancel = options.schedule(period, () => void releaseOverdue(options, signal).finally(next));
  };
  signal.addEventListener('abort', () => cancel(), { once: true });
  next();
}

/** Milliseconds: a shorter wait of a deletion is not reported. */
const patience = 2_000;

/** Reports each object that waits for a pass that succeeds; the recorder leaves out what it has just recorded. */
function reportWaiting({ finalizers, failureOf, events }: DeadlineOptions): void {
  for (const { kind, namespace, name, uid, waited } of finalizers.terminating()) {
    const failure = failureOf(namespace);
    if (waited < patience || failure === undefined) continue;
    const object = { kind, namespace, name, uid };
    events.record({ object, type: 'Warning', reason: 'DeletionWaits', message: deletionWaits(failure) });
  }
}

async function releaseOverdue(options: DeadlineOptions, signal: AbortSignal): Promise<void> {
  const { finalizers, holdLimit, failureOf, events, onFailure } = options;
  const overdue = finalizers
    .terminating()
    .filter(({ waited, namespace }) => waited >= holdLimit && failureOf(namespace) !== undefined);
  for (const [box, objects] of Map.groupBy(overdue, ({ namespace }) => namespace)) {
    const failure = failureOf(box) ?? 'unreachable';
    try {
      await finalizers.remove(box, objects, signal);
    } catch (error) {
      if (!signal.aborted) onFailure(box, error, period);
      continue;
    }
    const refused = finalizers.refusals(box);
    for (const object of objects.filter(({ uid }) => !refused.has(uid))) {
      const event = rowRemains(object, holdLimit, failure);
      events.record(event);
      // A terminating namespace accepts no events.
      onFailure(box, new Error(`${event.reason}: ${object.kind} ${object.name}: ${event.message}`), 0);
    }
  }
}

function rowRemains(object: TerminatingObject, holdLimit: number, failure: Failure) {
  const { kind, namespace, name, uid } = object;
  const waited = `${String(Math.round(holdLimit / 1000))} s`;
  const message =
    failure === 'unreachable'
      ? `The API could not be reached for ${waited}: the object is released, and what it declared works until the API is back. Then it is removed first. Look at the pods of the API and at Postgres`
      : `No pass over the box succeeded for ${waited} (${failure.detail}): the object is released, and what it declared works until one does. Then it is removed first. Look at the log of the operator`;
  return { object: { kind, namespace, name, uid }, type: 'Warning', reason: 'RowRemains', message } as const;
}
