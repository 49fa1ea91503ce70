import { CustomObjectsApi } from '@kubernetes/client-node';
import { API_VERSION, type Kind } from '../../../crds/kind.ts';
import { parseJson } from '../../../crds/path.ts';
import type { ObjectStatus } from '../../status/object-status.ts';
import { declaredObject, type DeclaredObject, novelty } from './declared-object.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { isRefused, KubeError, lacksRight, unlessMissing } from '../client/kube-error.ts';
import { FIELD_MANAGER, forEachConcurrently, kindName, readOurs } from '../client/kube-object.ts';
import type { ObjectStore } from '../client/object-store.ts';
import { type NotReady, statusAfter, type StatusBody, statusToWrite, withNotReady } from './status-body.ts';
import { isDeepStrictEqual } from 'node:util';

/** A cluster that statuses are written to. */
export interface StatusTarget {
  readonly api: KubeApi;
  /** Returns the store of the objects of a status's kind. */
  readonly storeOf: (status: ObjectStatus) => ObjectStore<DeclaredObject>;
  /** Called for each status that the API server refuses to store. */
  readonly onRefused: (status: ObjectStatus, error: KubeError) => void;
  /** Returns the fields of a status that the definition of its kind lacks. */
  readonly unwritable?: (kind: Kind) => ReadonlySet<string> | undefined;
}

/** Attempts of a write whose object changes in the meantime. */
const tries = 5;

/**
 * Writes statuses by server-side apply, those that differ from what the cluster has. Each write carries the uid and the
 * version it was computed from; if that is no longer the newest, it is computed again. A status that an admission rule
 * refuses is reported and holds up no other. Throws the error of the first failed write after all others had their
 * turn; an object that is gone, or another one, is no failure.
 */
export async function writeStatuses(
  target: StatusTarget,
  statuses: readonly ObjectStatus[],
  signal: AbortSignal,
): Promise<void> {
  await forEachConcurrently(statuses, (status) => writeStatus(target, status, signal));
}

async function writeStatus(target: StatusTarget, status: ObjectStatus, signal: AbortSignal): Promise<void> {
  const { api } = target;
  const store = target.storeOf(status);
  const unwritable = target.unwritable?.(status.kind);
  for (let left = tries; ; left -= 1) {
    const known = store.get(status.namespace, status.name);
    // Another object of that name gets its status in its own pass.
    if (known?.uid !== status.uid) return;
    const there = parseJson(known.status);
    const body = statusToWrite(status, there, unwritable);
    if (body === undefined) return;
    try {
      const answer = await apply(api, known, body, signal);
      noteWritten(store, known, answer, JSON.stringify(statusAfter(body, there)));
      return;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 'not-found') return;
      if (error.code !== 'conflict' || left <= 1) {
        if (error.code === 'conflict' || !isRefused(error) || lacksRight(error)) throw error;
        target.onRefused(status, error);
        return;
      }
    }
    if (!(await isStillThat(api, status, store, signal))) return;
  }
}

/**
 * Writes the condition Ready into the status that an object has; returns the object as it is then. No pass reports an
 * object that is being deleted. Throws KubeError.
 */
export async function writeReady(
  { api, store }: { readonly api: KubeApi; readonly store: ObjectStore<DeclaredObject> | undefined },
  known: DeclaredObject,
  notReady: NotReady,
  signal: AbortSignal,
): Promise<DeclaredObject> {
  const { declared } = known;
  const there = parseJson(known.status);
  const body = withNotReady(there, notReady, declared.generation);
  if (body === undefined) return known;
  const answer = await apply(api, known, body, signal);
  return noteWritten(store, known, answer, JSON.stringify(statusAfter(body, there)));
}

/** Reads the object again, and checks whether it is still the one that the status is about. */
async function isStillThat(
  api: KubeApi,
  status: ObjectStatus,
  store: ObjectStore<DeclaredObject>,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await unlessMissing(api.call(readOurs(status), signal));
  return found !== undefined && note(store, status, found);
}

/**
 * Stores the object as a write of ours has left it, and returns it: nobody has to wait for the watch. `answer` has its
 * metadata. If the object has changed in another way, or the watch was faster, what the watch says is left as it is.
 */
export function noteWritten(
  store: ObjectStore<DeclaredObject> | undefined,
  known: DeclaredObject,
  answer: unknown,
  status: string,
): DeclaredObject {
  const now = declaredObject(known.declared.kind, answer);
  if (now?.uid !== known.uid || now.isGoing !== known.isGoing) return known;
  if (now.declared.generation !== known.declared.generation) return known;
  const written = novelty.carry(known, { ...now, status });
  if (store?.get(known.namespace, known.name)?.resourceVersion === known.resourceVersion) store.put(written);
  return written;
}

/**
 * Stores the object as it was read again. A change of its spec is left to the watch, or nobody would be notified of it;
 * returns false then.
 */
function note(store: ObjectStore<DeclaredObject>, { kind, uid }: ObjectStatus, answer: unknown): boolean {
  const kept = declaredObject(kind, answer);
  const known = kept && store.get(kept.namespace, kept.name);
  if (kept?.uid !== uid || known?.uid !== uid || !novelty.isSame(known, kept)) return false;
  store.put(kept);
  return true;
}

/** Applies a status to the object that is known. Throws KubeError. */
function apply(
  api: KubeApi,
  { uid, resourceVersion, declared: { kind, namespace, name } }: DeclaredObject,
  status: StatusBody<object>,
  signal: AbortSignal,
): Promise<unknown> {
  const object = { ...kindName(kind), namespace, name, fieldManager: FIELD_MANAGER, force: true };
  const body = { apiVersion: API_VERSION, kind, metadata: { namespace, name, uid, resourceVersion }, status };
  return api.call((make) => make(CustomObjectsApi).patchNamespacedCustomObjectStatus({ ...object, body }), signal, {
    patch: 'apply',
    // An object may have a megabyte, and all of it is already known.
    metadataOnly: true,
  });
}

/** Objects whose status in the cluster is not the one that we last saw, or wanted to write. */
export interface ForeignStatusWrites {
  /** Compares the known state of an object with the next one. */
  readonly note: (known: DeclaredObject | undefined, next: DeclaredObject) => void;
  /** Adds an object whose status could not be written. */
  readonly add: (object: { readonly namespace: string; readonly key: string }) => void;
  /** Returns and forgets their keys in a box. */
  readonly take: (box: string) => readonly string[];
}

/** Creates an empty record. Our own writes are known from their answers: the watch reports nothing new about them. */
export function createForeignStatusWrites(): ForeignStatusWrites {
  const keys = new Map<string, Set<string>>();
  const add: ForeignStatusWrites['add'] = ({ namespace, key }) => {
    keys.set(namespace, (keys.get(namespace) ?? new Set()).add(key));
  };
  return {
    add,
    note(known, { uid, status, declared }) {
      if (known?.uid === uid && !isSameJson(known.status, status)) add(declared);
    },
    take(box) {
      const taken = [...(keys.get(box) ?? [])];
      keys.delete(box);
      return taken;
    },
  };
}

/** Compares two texts of JSON; ours has its members in another order than the API server's. */
function isSameJson(one: string, other: string): boolean {
  return one === other || isDeepStrictEqual(parseJson(one), parseJson(other));
}
