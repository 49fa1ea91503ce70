import { isObject } from '../../../crds/path.ts';
import { createConnection } from '../../../operator/kube/client/cluster-config.ts';
import { createKubeApi, type KubeApi } from '../../../operator/kube/client/kube-api.ts';
import { KubeError } from '../../../operator/kube/client/kube-error.ts';
import { defaultTimes, ListWatch, type ListWatchTimes } from '../../../operator/kube/client/list-watch.ts';
import type { Kept } from '../../../operator/kube/client/object-store.ts';
import { collectionAt } from '../../support/cluster/collection-at.ts';
import type { ScriptedApiServer } from '../../support/cluster/scripted-api-server.ts';

/** An object as a test keeps it. */
export interface Thing extends Kept {
  readonly value: string;
}

/** A list-watch over a scripted API server, with what it told. */
export interface ThingWatch extends Pick<ListWatch<Thing>, 'store' | 'synced' | 'ended' | 'relist'> {
  /** Namespaces it told of, in order. */
  readonly changes: string[];
  readonly failures: { readonly error: unknown; readonly wait: number }[];
  /** Every wait between two sessions. */
  readonly waits: number[];
  /** The value of an object. */
  value(name: string): string | undefined;
  stop(): Promise<void>;
}

/** Reads what a test keeps of an object. */
function keepThing(object: unknown): Thing | undefined {
  const { metadata, spec } = isObject(object) ? object : {};
  if (!isObject(metadata)) return undefined;
  const { namespace, name, uid, resourceVersion } = metadata;
  if (typeof namespace !== 'string' || typeof name !== 'string') return undefined;
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string') return undefined;
  return { namespace, name, uid, resourceVersion, value: isObject(spec) ? String(spec['value'] ?? spec['name']) : '' };
}

/** An API that signs in again when it must. */
export function apiOf(server: ScriptedApiServer, token?: () => string, timeout?: number): KubeApi {
  return createKubeApi(
    createConnection(() => server.signIn(token)),
    { timeout },
  );
}

function briefly(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** Starts a list-watch whose waits pass at once, as far as the server's answers let it go. */
export function watchThings(
  api: KubeApi,
  times: Partial<ListWatchTimes> = {},
  onChange: (namespace: string) => void = () => undefined,
  {
    path = '/apis/boxgate.dev/v1/things',
    sleep = briefly,
    isOptional = false,
  }: { path?: string; sleep?: () => Promise<void>; isOptional?: boolean } = {},
): ThingWatch {
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => resolve());
  });
  const changes: string[] = [];
  const failures: ThingWatch['failures'] = [];
  const waits: number[] = [];
  const watching = new ListWatch<Thing>(
    {
      api,
      collection: collectionAt(path),
      isOptional,
      keep: keepThing,
      novelty: { isSame: (known, next) => known.value === next.value, carry: (_known, next) => next },
      onChange(namespace) {
        changes.push(namespace);
        onChange(namespace);
      },
      onFailure: (error, wait) => failures.push({ error, wait }),
      times: { ...defaultTimes, ...times },
      random: () => 0.5,
      now: () => performance.now(),
      sleep(wait) {
        waits.push(wait);
        return Promise.race([sleep(), stopped]);
      },
    },
    stopping.signal,
  );
  return {
    store: watching.store,
    synced: watching.synced,
    ended: watching.ended,
    relist: () => watching.relist(),
    changes,
    failures,
    waits,
    value: (name) => watching.store.get('shop', name)?.value,
    async stop() {
      stopping.abort(new Error('the test is over'));
      await watching.ended;
    },
  };
}

/** The sorts of the failures so far. */
export function sorts({ failures }: ThingWatch): string[] {
  return failures.map(({ error }) => (error instanceof KubeError ? error.code : 'a bug'));
}
