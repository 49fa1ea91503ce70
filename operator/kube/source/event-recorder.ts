import { randomBytes } from 'node:crypto';
import { API_VERSION } from '../../../crds/kind.ts';
import { setNewest } from '../../../process/set-newest.ts';
import type { EventRecorder, ObjectEvent } from '../../status/events.ts';
import { EVENT_REPORTER, eventInstance, eventName, eventNote, microTime } from './event-parts.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';
import { unlessMissing } from '../client/unless-missing.ts';

/** Dependencies of a recorder. */
export interface EventRecorderOptions {
  readonly api: KubeApi;
  /** Process that reports the events. */
  readonly instance: string;
  readonly now: () => Date;
  readonly schedule: (wait: number, callback: () => void) => () => void;
  /** Called for each event that could not be recorded. */
  readonly onLost: (error: unknown) => void;
}

/** One event with its repetitions. */
interface Series {
  readonly event: ObjectEvent;
  /** Name of the Event. */
  readonly name: string;
  count: number;
  /** Milliseconds of the clock: the last occurrence, and the last write (undefined before the first one). */
  last: number;
  written: number | undefined;
  isQueued: boolean;
}

const events = 'events.k8s.io/v1';
/** An event repeated within ten minutes is the same Event, whose count is written once a minute at most. */
const sameFor = 600_000;
const writtenEvery = 60_000;
/** At most twenty writes a second and a thousand waiting events; beyond that events are lost. */
const spacing = 50;
const mostWaiting = 1_000;
const mostKnown = 5_000;
/** Milliseconds in which nothing is written to a namespace that takes no events. */
const leftAlone = 300_000;

/** Creates a recorder of Events in a cluster (events.k8s.io/v1), written one after the other until aborted. */
export function createEventRecorder(options: EventRecorderOptions, signal: AbortSignal): EventRecorder {
  return new Recorder(options, signal);
}

class Recorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #signal: AbortSignal;
  readonly #known = new Map<string, Series>();
  readonly #queue: Series[] = [];
  /** Namespaces that are terminating or gone, and the time until which nothing is written there. */
  readonly #going = new Map<string, number>();
  #isWriting = false;

  constructor(options: EventRecorderOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  record(event: ObjectEvent): void {
    const now = this.#options.now().getTime();
    if (this.#signal.aborted || (this.#going.get(event.object.namespace) ?? 0) > now) return;
    const series = this.#seriesOf(event, now);
    series.count += 1;
    series.last = now;
    const isDue = series.written === undefined || series.count === 2 || now - series.written >= writtenEvery;
    if (!isDue || series.isQueued) return;
    if (this.#queue.length >= mostWaiting) {
      this.#options.onLost(new Error('too many events wait'));
      return;
    }
    series.isQueued = true;
    this.#queue.push(series);
    if (!this.#isWriting) void this.#writeAll();
  }

  #seriesOf(event: ObjectEvent, now: number): Series {
    const { object, type, reason, message } = event;
    const key = JSON.stringify([object.uid, type, reason, message]);
    const known = this.#known.get(key);
    if (known !== undefined && now - known.last < sameFor) return known;
    const name = eventName(object.name, randomBytes(8).toString('hex'));
    const series: Series = { event, name, count: 0, last: now, written: undefined, isQueued: false };
    setNewest(this.#known, key, series, mostKnown);
    return series;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let series = this.#queue.shift(); series !== undefined; series = this.#queue.shift()) {
      if (this.#signal.aborted) break;
      series.isQueued = false;
      await this.#write(series);
      await new Promise<void>((resolve) => this.#options.schedule(spacing, resolve));
    }
    this.#isWriting = false;
  }

  async #write(series: Series): Promise<void> {
    const { api, onLost, now } = this.#options;
    const { namespace } = series.event.object;
    const path = `/apis/${events}/namespaces/${namespace}/events`;
    try {
      // An Event that somebody deleted is created again.
      if (series.written === undefined || !(await this.#writeCount(series, path))) {
        await api.call({ method: 'POST', path, body: this.#body(series, namespace) }, this.#signal);
      }
      series.written = now().getTime();
    } catch (error) {
      if (isGoing(error)) this.#going.set(namespace, now().getTime() + leftAlone);
      onLost(error);
    }
  }

  /** Writes the count into the Event of a series; returns whether there is one. Throws KubeError. */
  async #writeCount({ name, count, last }: Series, path: string): Promise<boolean> {
    const body = { series: { count, lastObservedTime: microTime(last) } };
    const call = { method: 'PATCH', patch: 'merge', path: `${path}/${name}`, body } as const;
    return (await unlessMissing(this.#options.api.call(call, this.#signal))) !== undefined;
  }

  #body({ event, name, last }: Series, namespace: string): object {
    const { object, type, reason, message } = event;
    return {
      apiVersion: events,
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: microTime(last),
      reportingController: EVENT_REPORTER,
      reportingInstance: eventInstance(this.#options.instance),
      action: 'Reconcile',
      regarding: { apiVersion: API_VERSION, kind: object.kind, namespace, name: object.name, uid: object.uid },
      type,
      reason,
      note: eventNote(message),
    };
  }
}

/** Checks for an error from a namespace that is being deleted, or gone: nothing can be created there. */
function isGoing(error: unknown): boolean {
  return error instanceof KubeError && (error.code === 'terminating' || error.code === 'not-found');
}
