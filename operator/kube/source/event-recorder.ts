import { CustomObjectsApi } from '@kubernetes/client-node';
import { randomBytes } from 'node:crypto';
import { API_VERSION } from '../../../crds/kind.ts';
import { setNewest } from '../../../program/bounded-map.ts';
import type { EventRecorder, ObjectEvent } from '../../status/events.ts';
import type { KubeApi, KubeCall } from '../client/kube-api.ts';
import { KubeError, unlessMissing } from '../client/kube-error.ts';
import { plainText } from '../../../program/text.ts';

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

const EVENTS = { group: 'events.k8s.io', version: 'v1', plural: 'events' } as const;
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
    try {
      // An Event that somebody deleted is created again.
      if (series.written === undefined || !(await this.#writeCount(series))) {
        const event = { ...EVENTS, namespace, body: this.#body(series, namespace) };
        await api.call((make) => make(CustomObjectsApi).createNamespacedCustomObject(event), this.#signal);
      }
      series.written = now().getTime();
    } catch (error) {
      if (isGoing(error)) this.#going.set(namespace, now().getTime() + leftAlone);
      onLost(error);
    }
  }

  /** Writes the count into the Event of a series; returns whether there is one. Throws KubeError. */
  async #writeCount({ event: { object }, name, count, last }: Series): Promise<boolean> {
    const body = { series: { count, lastObservedTime: microTime(last) } };
    const changed = { ...EVENTS, namespace: object.namespace, name, body };
    const call: KubeCall = (make) => make(CustomObjectsApi).patchNamespacedCustomObject(changed);
    return (await unlessMissing(this.#options.api.call(call, this.#signal, { patch: 'merge' }))) !== undefined;
  }

  #body({ event, name, last }: Series, namespace: string): object {
    const { object, type, reason, message } = event;
    return {
      apiVersion: `${EVENTS.group}/${EVENTS.version}`,
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

/** Controller that Events name as their reporter. */
export const EVENT_REPORTER = 'boxgate.dev/operator';

/** Limits of the API server for the note and the instance of an Event, in characters. */
const longestNote = 1_000;
const longestInstance = 128;

/** Returns the note of an Event: without control characters, cut to the length that the API server takes. */
export function eventNote(text: string): string {
  const message = plainText(text);
  return message.length > longestNote ? `${message.slice(0, longestNote - 1)}…` : message;
}

/** Returns the name of an Event about an object: a part of its name that ends in a letter or digit, and `suffix`. */
export function eventName(object: string, suffix: string): string {
  return `${object.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${suffix}`;
}

/** Returns the name of a process as an Event may have it. */
export function eventInstance(instance: string): string {
  return instance.slice(0, longestInstance);
}

/** Returns a time, in milliseconds since 1970, as MicroTime (Kubernetes API conventions): Events have no other form. */
function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
