import { API_VERSION, type Kind } from '../../../crds/kind.ts';
import { parseJson } from '../../../crds/json-value.ts';
import type { ObjectStatus } from '../../status/object-status.ts';
import { declaredObject, novelty, type DeclaredObject } from './declared-object.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { isRefused, KubeError, lacksRight } from '../client/kube-error.ts';
import { forEachConcurrently } from '../client/concurrency.ts';
import { kindName, pathOfObject } from '../client/live-read.ts';
import { FIELD_MANAGER } from '../client/names.ts';
import type { ObjectStore } from '../client/object-store.ts';
import { unlessMissing } from '../client/unless-missing.ts';
import { statusAfter, statusToWrite, withNotReady, type NotReady, type StatusBody } from './status-body.ts';

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
  await forEachConcurrently(
    statuses,
    (status) => writeStatus(target, status, signal),
    (status) => target.storeOf(status).get(status.namespace, status.name)?.declared.length ?? 0,
  );
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
      const answer = await api.call(applyCall(status, known, body), signal);
      noteWritten(store, known, { answer, status: statusAfter(body, there) });
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
  const answer = await api.call(applyCall(declared, known, body), signal);
  const now = declaredObject(declared.kind, answer);
  if (now?.uid !== known.uid) return known;
  const written = novelty.carry(known, { ...now, status: JSON.stringify(statusAfter(body, there)) });
  if (store?.get(known.namespace, known.name)?.resourceVersion === known.resourceVersion) store.put(written);
  return written;
}

/** Reads the object again, and checks whether it is still the one that the status is about. */
async function isStillThat(
  api: KubeApi,
  status: ObjectStatus,
  store: ObjectStore<DeclaredObject>,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await unlessMissing(api.call({ path: pathOf(status) }, signal));
  return found !== undefined && note(store, status, found);
}

/**
 * Stores the metadata that a write was answered with, and the status that it left: nobody has to wait for the watch. If
 * the object has changed in another way, or the watch was faster, what the watch says is left as it is.
 */
function noteWritten(
  store: ObjectStore<DeclaredObject>,
  known: DeclaredObject,
  { answer, status }: { readonly answer: unknown; readonly status: object },
): void {
  const now = declaredObject(known.declared.kind, answer);
  const latest = store.get(known.namespace, known.name);
  if (now?.uid !== known.uid || latest?.resourceVersion !== known.resourceVersion) return;
  const isSame = now.declared.generation === known.declared.generation && now.isGoing === known.isGoing;
  if (isSame) store.put(novelty.carry(known, { ...now, status: JSON.stringify(status) }));
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

function applyCall(
  status: Pick<ObjectStatus, 'kind' | 'namespace' | 'name'>,
  { uid, resourceVersion }: DeclaredObject,
  body: StatusBody<object>,
) {
  const { kind, namespace, name } = status;
  return {
    method: 'PATCH',
    patch: 'apply',
    path: `${pathOf(status)}/status`,
    query: { fieldManager: FIELD_MANAGER, force: 'true' },
    // An object may have a megabyte, and all of it is already known.
    metadataOnly: true,
    body: { apiVersion: API_VERSION, kind, metadata: { namespace, name, uid, resourceVersion }, status: body },
  } as const;
}

function pathOf({ kind, namespace, name }: Pick<ObjectStatus, 'kind' | 'namespace' | 'name'>): string {
  return pathOfObject({ ...kindName(kind), namespace, name });
}
