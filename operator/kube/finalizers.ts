import type { Kind } from '../../crds/kind.ts';
import type { Going, Holds } from '../holds.ts';
import type { ObjectName } from '../declared.ts';
import { declaredObject, FINALIZER, isHeld, novelty, type DeclaredObject } from './declared-object.ts';
import type { KubeApi } from './kube-api.ts';
import { KubeError } from './kube-error.ts';
import { inLanes } from './lanes.ts';
import { kindName, pathOfObject } from './live-read.ts';
import { FIELD_MANAGER } from './names.ts';
import type { ObjectStore } from './object-store.ts';

/** What holds are made of. */
export interface FinalizerOptions {
  readonly api: KubeApi;
  readonly storeOf: (kind: Kind) => ObjectStore<DeclaredObject> | undefined;
  /** The operator's own namespace: an object there is never held, as nobody would be left to let it go. */
  readonly ownNamespace: string | undefined;
  /** Milliseconds, from a clock that never goes back. */
  readonly now: () => number;
}

/** Holds by our finalizer, and what tells them that an object is going. */
export interface FinalizerHolds extends Holds {
  /** Hears of every object that the cluster tells of. */
  note(kept: DeclaredObject): void;
}

/** Milliseconds from when the cluster told of an object until it is known: it may stand at the beginning of a long list. */
const longestList = 120_000;
/** So often a write is begun again whose object changed meanwhile. */
const tries = 5;

/**
 * Objects wait with their deletion by the finalizer {@link FINALIZER} (Kubernetes, concepts: finalizers). Each write of it
 * carries the uid and the version that it was computed from, so that it changes no other object and no other's finalizer.
 * Throws KubeError.
 */
export function createFinalizerHolds(options: FinalizerOptions): FinalizerHolds {
  const { api, storeOf, now } = options;
  /** By uid: when the object was first seen to go. */
  const since = new Map<
    string,
    { readonly at: number; readonly object: ObjectName & { readonly namespace: string } }
  >();

  const stillGoing = (box: string | undefined): Going[] => {
    const found: Going[] = [];
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
    for (let left = tries; ; left -= 1) {
      if (kept?.uid !== object.uid || isHeld(kept) === isWanted || (isWanted && kept.isGoing)) return;
      try {
        note(store, kept, declaredObject(object.kind, await api.call(patch(kept, isWanted), signal)));
        return;
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        if (error.sort === 'not-found') return;
        if (error.sort !== 'conflict' || left <= 1) throw error;
      }
      kept = await readAnew(api, object, box, signal);
    }
  }

  const lengthIn =
    (box: string) =>
    ({ kind, name }: ObjectName): number =>
      storeOf(kind)?.get(box, name)?.declared.length ?? 0;

  return {
    note({ uid, isGoing, finalizers, declared: { kind, namespace, name } }) {
      if (!isGoing || since.has(uid) || !finalizers.includes(FINALIZER)) return;
      since.set(uid, { at: now(), object: { kind, namespace, name, uid } });
    },
    going: stillGoing,
    async hold(box, objects, signal) {
      if (box === options.ownNamespace) return;
      const free = objects.filter(({ kind, name, uid }) => {
        const kept = storeOf(kind)?.get(box, name);
        return kept?.uid === uid && !isHeld(kept) && !kept.isGoing;
      });
      await inLanes(free, (object) => write(box, object, true, signal), lengthIn(box));
    },
    release: (box, objects, signal) => inLanes(objects, (object) => write(box, object, false, signal), lengthIn(box)),
  };
}

/** The call that takes our finalizer off an object, unless that has changed. */
export function releasePatch(object: DeclaredObject) {
  return patch(object, false);
}

/** The finalizers of others stay as they are. */
function patch({ declared, uid, resourceVersion, finalizers }: DeclaredObject, isWanted: boolean) {
  const others = finalizers.filter((one) => one !== FINALIZER);
  return {
    method: 'PATCH',
    patch: 'merge',
    path: pathOfObject({ ...kindName(declared.kind), namespace: declared.namespace, name: declared.name }),
    query: { fieldManager: FIELD_MANAGER },
    // An object may have a megabyte, and all of it is known.
    metadataOnly: true,
    body: { metadata: { uid, resourceVersion, finalizers: isWanted ? [...others, FINALIZER] : others } },
  } as const;
}

/**
 * The answer is the object as it is now: nobody has to wait until the watch tells of it. What else is new of it is the
 * watch's to tell, or nobody would hear of it. Its status is that of the version that the patch named.
 */
function note(store: ObjectStore<DeclaredObject> | undefined, before: DeclaredObject, now: DeclaredObject | undefined) {
  const isKnown = now?.declared.generation === before.declared.generation && now.isGoing === before.isGoing;
  if (now?.uid === before.uid && isKnown) store?.put(novelty.carry(before, { ...now, status: before.status }));
}

/** The object as it is in the cluster now; undefined when there is none of its name. */
async function readAnew(
  api: KubeApi,
  { kind, name }: ObjectName,
  namespace: string,
  signal: AbortSignal,
): Promise<DeclaredObject | undefined> {
  try {
    return declaredObject(kind, await api.call({ path: pathOfObject({ ...kindName(kind), namespace, name }) }, signal));
  } catch (error) {
    if (error instanceof KubeError && error.sort === 'not-found') return undefined;
    throw error;
  }
}
