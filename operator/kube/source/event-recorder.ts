import { CoreV1Api, CustomObjectsApi, V1MicroTime } from '@kubernetes/client-node';
import { randomBytes } from 'node:crypto';
import { API_VERSION } from '../../../crds/kind.ts';
import { BoundedMap } from '../../../program/bounded-map.ts';
import type { OperatorConfig } from '../../config.ts';
import type { EventRecorder, ObjectEvent } from '../../status/status.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';
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

const EVENTS = { group: 'events.k8s.io', version: 'v1', plural: 'events' } as const;
/** Milliseconds in which an event that is repeated is not recorded again. */
const sameFor = 600_000;
/** At most twenty writes a second and a thousand waiting events; beyond that events are lost. */
const spacing = 50;
const mostWaiting = 1_000;
const mostKnown = 5_000;
/** Milliseconds in which nothing is written to a namespace that takes no events. */
const leftAlone = 300_000;

/** Creates a recorder of Events in a cluster (events.k8s.io/v1), written one after the other until aborted. */
export function createEventRecorder(options: EventRecorderOptions, signal: AbortSignal): EventRecorder {
  const { api, now, schedule, onLost } = options;
  /** By what it says: when an event was recorded. */
  const known = new BoundedMap<number>(mostKnown);
  const queue: { readonly event: ObjectEvent; readonly time: number }[] = [];
  /** Namespaces that are terminating or gone, and the time until which nothing is written there. */
  const going = new Map<string, number>();
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    for (let next = queue.shift(); next !== undefined && !signal.aborted; next = queue.shift()) {
      await write(next.event, next.time);
      await new Promise<void>((resolve) => schedule(spacing, resolve));
    }
    isWriting = false;
  }

  async function write(event: ObjectEvent, time: number): Promise<void> {
    const { namespace } = event.object;
    const created = { ...EVENTS, namespace, body: eventBody(event, time, options.instance) };
    try {
      await api.call((make) => make(CustomObjectsApi).createNamespacedCustomObject(created), signal);
    } catch (error) {
      known.delete(keyOf(event));
      if (isGoing(error)) going.set(namespace, now().getTime() + leftAlone);
      onLost(error);
    }
  }

  /** Forgets the events of the object with the other type: the last Event of one that flaps is what holds. */
  function forgetOtherType({ object, type }: ObjectEvent): void {
    const other = JSON.stringify([object.uid, type === 'Normal' ? 'Warning' : 'Normal']).slice(0, -1);
    for (const key of known.keys()) if (key.startsWith(`${other},`)) known.delete(key);
  }

  return {
    record(event) {
      const [key, time] = [keyOf(event), now().getTime()];
      if (signal.aborted || (going.get(event.object.namespace) ?? 0) > time) return;
      if (time - (known.get(key) ?? -Infinity) < sameFor) return;
      if (queue.length >= mostWaiting) {
        onLost(new Error('too many events wait'));
        return;
      }
      forgetOtherType(event);
      known.setNewest(key, time);
      queue.push({ event, time });
      if (!isWriting) void writeAll();
    },
  };
}

function keyOf({ object, type, reason, message }: ObjectEvent): string {
  return JSON.stringify([object.uid, type, reason, message]);
}

function eventBody({ object, type, reason, message }: ObjectEvent, time: number, instance: string): object {
  const { kind, namespace, name, uid } = object;
  return {
    apiVersion: `${EVENTS.group}/${EVENTS.version}`,
    kind: 'Event',
    metadata: { name: eventName(name, randomBytes(8).toString('hex')), namespace },
    eventTime: microTime(time),
    reportingController: EVENT_REPORTER,
    reportingInstance: eventInstance(instance),
    action: 'Reconcile',
    regarding: { apiVersion: API_VERSION, kind, namespace, name, uid },
    type,
    reason,
    note: eventNote(message),
  };
}

/** Checks for an error from a namespace that is being deleted, or gone: nothing can be created there. */
function isGoing(error: unknown): boolean {
  return error instanceof KubeError && (error.code === 'terminating' || error.code === 'not-found');
}

/** Controller that Events name as their reporter. */
const EVENT_REPORTER = 'boxgate.dev/operator';

/** Limits of the API server for the note and the instance of an Event, in characters. */
const longestNote = 1_000;
const longestInstance = 128;

/** Returns the note of an Event: without control characters, cut to the length that the API server takes. */
function eventNote(text: string): string {
  const message = plainText(text);
  return message.length > longestNote ? `${message.slice(0, longestNote - 1)}…` : message;
}

/** Returns the name of an Event about an object: a part of its name that ends in a letter or digit, and `suffix`. */
function eventName(object: string, suffix: string): string {
  return `${object.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${suffix}`;
}

/** Returns the name of a process as an Event may have it. */
function eventInstance(instance: string): string {
  return instance.slice(0, longestInstance);
}

/** Returns a time, in milliseconds since 1970, as MicroTime (Kubernetes API conventions): Events have no other form. */
function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}

/** Lease of the operators, and the process that reports. */
type InstallationEventPlace = Pick<OperatorConfig, 'namespace' | 'leaseName'> & Pick<EventRecorderOptions, 'instance'>;

/** Report of something that concerns all boxes, and its time. */
interface InstallationReport {
  readonly reason: 'RightsMissing' | 'Unavailable';
  readonly message: string;
  readonly now: Date;
}

/**
 * Reports something to the people of the installation, by an Event of the Lease in the operator's own namespace: those
 * of each box could not help, and without its rights the operator can report nowhere else. Throws KubeError.
 */
export async function tellInstallation(
  api: KubeApi,
  { namespace, leaseName, instance }: InstallationEventPlace,
  { reason, message, now }: InstallationReport,
  signal: AbortSignal,
): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: eventName(leaseName, randomBytes(8).toString('hex')), namespace },
    involvedObject: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: leaseName },
    eventTime: new V1MicroTime(now),
    reportingComponent: EVENT_REPORTER,
    reportingInstance: eventInstance(instance),
    action: 'Reconcile',
    type: 'Warning',
    reason,
    message: eventNote(message),
  };
  await api.call((make) => make(CoreV1Api).createNamespacedEvent({ namespace, body }), signal);
}
