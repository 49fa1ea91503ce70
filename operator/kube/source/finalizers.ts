import { CustomObjectsApi } from '@kubernetes/client-node';
import type { Kind } from '../../../crds/kind.ts';
import { notReleased, REFUSAL_RETRY, type TerminatingObject, type Finalizers } from '../../desired/source.ts';
import type { ObjectName } from '../../desired/declared.ts';
import { declaredObject, FINALIZER, isHeld, type DeclaredObject } from './declared-object.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { isRefused, KubeError, unlessMissing } from '../client/kube-error.ts';
import { FIELD_MANAGER, forEachConcurrently, kindName, readOurs } from '../client/kube-object.ts';
import type { ObjectStore } from '../client/object-store.ts';
import type { NotReady } from './status-body.ts';
import { noteWritten, writeReady } from './status-writer.ts';

/** Dependencies of the finalizers of a cluster. */
export interface FinalizerOptions {
  readonly api: KubeApi;
  readonly storeOf: (kind: Kind) => ObjectStore<DeclaredObject> | undefined;
  /** The operator's own namespace: an object there is never held, as nobody would be left to release it. */
  readonly ownNamespace: string | undefined;
  /** Milliseconds, from a clock that never goes back. */
  readonly now: () => number;
  /** Returns the time of conditions. */
  readonly date: () => Date;
  /** Called for each change of an object that the API server refuses. */
  readonly onFailure: (error: unknown, wait: number) => void;
}

/** The last refusal to change an object. */
interface Refused {
  readonly object: ObjectName;
  readonly box: string;
  readonly at: number;
  readonly resourceVersion: string;
  readonly sentence: string;
}

/** Our finalizer on the objects of a cluster; it learns from the watch that an object is being deleted. */
export interface ClusterFinalizers extends Finalizers {
  /** Notes an object; called for every one that the cluster reports. */
  note(kept: DeclaredObject): void;
}

/** Milliseconds from the report of an object until it is stored: it may be at the beginning of a long list. */
const longestList = 120_000;
/** Attempts of a write whose object changes in the meantime. */
const tries = 5;

/**
 * Returns the calls that let objects wait with their deletion by the finalizer {@link FINALIZER} (Kubernetes, concepts:
 * finalizers). Each write carries the uid and the version that it was computed from, so that it changes no other object
 * and no other finalizer. An object that the API server refuses to change holds up no other. Throws KubeError.
 */
export function createFinalizers(options: FinalizerOptions): ClusterFinalizers {
  const { api, storeOf, now, onFailure } = options;
  /** By uid: an object, and the time when its deletion was first seen. */
  const since = new Map<
    string,
    { readonly at: number; readonly object: ObjectName & { readonly namespace: string } }
  >();

  /** By uid: the last refusal to change an object. */
  const refused = new Map<string, Refused>();

  /** A refused object costs no call in each pass, unless it has changed since. */
  const isLate = ({ uid, resourceVersion }: DeclaredObject): boolean => {
    const last = refused.get(uid);
    return last?.resourceVersion === resourceVersion && now() - last.at < REFUSAL_RETRY;
  };

  function refusals(box: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const [uid, { object, box: where, sentence }] of refused) {
      if (where !== box) continue;
      if (storeOf(object.kind)?.get(box, object.name)?.uid === uid) found.set(uid, sentence);
      else refused.delete(uid);
    }
    return found;
  }

  const stillGoing = (box: string | undefined): TerminatingObject[] => {
    const found: TerminatingObject[] = [];
    for (const [uid, { at, object }] of since) {
      const kept = storeOf(object.kind)?.get(object.namespace, object.name);
      const waited = now() - at;
      if (kept?.uid === uid && isHeld(kept)) {
        if (box === undefined || box === object.namespace) found.push({ ...object, waited });
      } else if (kept !== undefined || waited > longestList) since.delete(uid);
    }
    return found;
  };

  async function write(box: string, object: ObjectName, isWanted: boolean, signal: AbortSignal): Promise<void> {
    const store = storeOf(object.kind);
    let kept = store?.get(box, object.name);
    for (let attempt = tries; ; attempt -= 1) {
      if (kept?.uid !== object.uid || isHeld(kept) === isWanted || (isWanted && kept.isGoing)) break;
      if (isLate(kept)) return;
      try {
        const isHeldByOthers = !isWanted && kept.finalizers.length > 1;
        // A status that tells of a refusal stays until that is over.
        if (isHeldByOthers && !refused.has(object.uid)) kept = await tell(options, kept, STILL_HELD, signal);
        noteWritten(store, kept, await patch(api, kept, isWanted, signal), kept.status);
        const left = isHeldByOthers && refused.has(object.uid) ? store?.get(box, object.name) : undefined;
        if (left?.uid === object.uid) await tell(options, left, STILL_HELD, signal);
        break;
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        if (error.code === 'not-found') break;
        if (error.code !== 'conflict' || attempt <= 1) return refuse(kept, isWanted, error, signal);
      }
      kept = await readAgain(api, object, box, signal);
    }
    refused.delete(object.uid);
  }

  /** Notes that an object may not be changed; throws the error if it says nothing about the object. */
  async function refuse(kept: DeclaredObject, isWanted: boolean, error: KubeError, signal: AbortSignal): Promise<void> {
    if (!isRefused(error)) throw error;
    onFailure(error, 0);
    const why = { reason: 'FinalizerRefused', message: notReleased(error.message) } as const;
    const { declared: object, uid, resourceVersion } = isWanted ? kept : await tell(options, kept, why, signal);
    refused.set(uid, { object, box: object.namespace, at: now(), resourceVersion, sentence: error.message });
  }

  return {
    note({ uid, isGoing, finalizers, declared: { kind, namespace, name } }) {
      if (!isGoing || since.has(uid) || !finalizers.includes(FINALIZER)) return;
      since.set(uid, { at: now(), object: { kind, namespace, name, uid } });
    },
    terminating: stillGoing,
    async add(box, objects, signal) {
      if (box === options.ownNamespace) return;
      const free = objects.filter(({ kind, name, uid }) => {
        const kept = storeOf(kind)?.get(box, name);
        return kept?.uid === uid && !isHeld(kept) && !kept.isGoing;
      });
      await forEachConcurrently(free, (object) => write(box, object, true, signal));
    },
    remove: (box, objects, signal) => forEachConcurrently(objects, (object) => write(box, object, false, signal)),
    refusals,
  };
}

const STILL_HELD = {
  reason: 'Terminating',
  message: 'the object is being deleted: the operator has released it, and other finalizers hold it',
} as const;

/** Writes why a terminating object is not Ready; returns the object as it is then. A refusal changes nothing. */
async function tell(
  { api, storeOf, date, onFailure }: FinalizerOptions,
  kept: DeclaredObject,
  why: Pick<NotReady, 'reason' | 'message'>,
  signal: AbortSignal,
): Promise<DeclaredObject> {
  try {
    const notReady = { ...why, lastTransitionTime: date().toISOString() };
    return await writeReady({ api, store: storeOf(kept.declared.kind) }, kept, notReady, signal);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (!isRefused(error) && error.code !== 'not-found') throw error;
    onFailure(error, 0);
    return kept;
  }
}

/** Removes our finalizer from an object, unless the object has changed. Throws KubeError. */
export async function releaseObject(api: KubeApi, object: DeclaredObject, signal: AbortSignal): Promise<void> {
  await patch(api, object, false, signal);
}

/** Adds or removes our finalizer; those of others stay as they are. */
function patch(
  api: KubeApi,
  { declared: { kind, namespace, name }, uid, resourceVersion, finalizers }: DeclaredObject,
  isWanted: boolean,
  signal: AbortSignal,
): Promise<unknown> {
  const others = finalizers.filter((one) => one !== FINALIZER);
  const body = { metadata: { uid, resourceVersion, finalizers: isWanted ? [...others, FINALIZER] : others } };
  const object = { ...kindName(kind), namespace, name, body, fieldManager: FIELD_MANAGER };
  return api.call((make) => make(CustomObjectsApi).patchNamespacedCustomObject(object), signal, {
    patch: 'merge',
    // An object may have a megabyte, and all of it is already known.
    metadataOnly: true,
  });
}

/** Reads the object as it is in the cluster now; undefined if there is none of its name. */
async function readAgain(
  api: KubeApi,
  { kind, name }: ObjectName,
  namespace: string,
  signal: AbortSignal,
): Promise<DeclaredObject | undefined> {
  const found = await unlessMissing(api.call(readOurs({ kind, namespace, name }), signal));
  return found === undefined ? undefined : declaredObject(kind, found);
}
