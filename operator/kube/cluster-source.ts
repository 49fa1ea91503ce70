import type { Kind } from '../../crds/kind.ts';
import type { ObjectName, Source } from '../source.ts';
import { declaredObject, novelty, type DeclaredObject } from './declared-object.ts';
import { createFinalizerHolds } from './finalizers.ts';
import { KubeError } from './kube-error.ts';
import { inLanes } from './lanes.ts';
import { startListWatch, type ListWatch, type ListWatchOptions } from './list-watch.ts';
import { kindName, liveUid, pathOfKind } from './live-read.ts';
import { writeStatuses } from './status-writer.ts';

/** What a source over a cluster works with. */
export type ClusterSourceOptions = Pick<
  ListWatchOptions<DeclaredObject>,
  'api' | 'times' | 'random' | 'now' | 'sleep' | 'onFailure'
> & {
  /** The namespace that the operator runs in. */
  readonly ownNamespace?: string;
};

/** A quarter of a second of writes: what changes in a box of ten thousand waits no longer for its statuses. */
const statusesInTurn = 256;

type Watches = Readonly<Record<Kind, ListWatch<DeclaredObject>>>;

/** The kinds of ours in all namespaces of a cluster as a source of declared objects. It answers once it is watched. */
export function createClusterSource(options: ClusterSourceOptions): Source {
  const started = Promise.withResolvers<Watches>();
  const synced = started.promise.then(async (watches) => {
    await Promise.all(Object.values(watches).map((one) => one.synced));
    return watches;
  });
  // Nobody may have asked yet.
  synced.catch(() => undefined);
  let stores: Watches | undefined;
  const holds = createFinalizerHolds({
    ...options,
    ownNamespace: options.ownNamespace,
    storeOf: (kind) => stores?.[kind].store,
  });

  return {
    statusesInTurn,
    watch(onChange, signal) {
      const start = (kind: Kind): ListWatch<DeclaredObject> =>
        startListWatch(
          {
            ...options,
            path: pathOfKind(kindName(kind)),
            keep(value) {
              const kept = declaredObject(kind, value);
              if (kept !== undefined) holds.note(kept);
              return kept;
            },
            novelty,
            onChange,
          },
          signal,
        );
      stores = { Box: start('Box'), Client: start('Client'), AccessPolicy: start('AccessPolicy') };
      started.resolve(stores);
    },
    async boxes(signal) {
      const watches = await unlessAborted(synced, signal);
      return [...new Set(Object.values(watches).flatMap(({ store }) => store.namespaces()))];
    },
    async list(box, signal) {
      const watches = await unlessAborted(synced, signal);
      const kept = Object.values(watches).flatMap(({ store }) => store.inNamespace(box));
      const objects = kept.filter(({ isGoing }) => !isGoing).map(({ declared }) => declared);
      return { objects, secrets: new Map(), complete: true };
    },
    holds,
    confirmGone: (box, objects, signal) => confirmGone(options, box, objects, signal),
    async writeStatus(_box, changed, _gone, signal) {
      const watches = await unlessAborted(synced, signal);
      await writeStatuses(options.api, changed, ({ kind }) => watches[kind].store, signal);
    },
  };
}

/**
 * An object of which the cluster does not say that it is gone stays. While it says nothing at all the question is open: the
 * error is thrown, and the box is looked at again soon.
 */
async function confirmGone(
  { api, onFailure }: ClusterSourceOptions,
  namespace: string,
  objects: readonly ObjectName[],
  signal: AbortSignal,
): Promise<ReadonlySet<ObjectName>> {
  const gone = new Set<ObjectName>();
  await inLanes(objects, async (object) => {
    try {
      const uid = await liveUid(api, { ...kindName(object.kind), namespace, name: object.name }, signal);
      // Without a uid (a row that was adopted) every object of the name is meant.
      if (uid === undefined || (object.uid !== '' && uid !== object.uid)) gone.add(object);
    } catch (error) {
      if (!(error instanceof KubeError) || error.sort === 'unavailable') throw error;
      onFailure(error, 0);
    }
  });
  return gone;
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('stopped before the cluster was listed', { cause: signal.reason }));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
