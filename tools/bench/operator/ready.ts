import { isObject } from '../../../crds/json-value.ts';
import type { KubeApi } from '../../../operator/kube/client/kube-api.ts';
import { follow } from './kube.ts';

/** A watch that looks for Ready. */
export interface ReadyWatch {
  /**
   * Resolves when each of the objects was seen Ready in its present generation; with the time (performance.now) of the
   * last.
   */
  readonly all: Promise<number>;
  end(): void;
}

/** Longest wait for the last one, milliseconds. */
const patience = 300_000;

/** Watches paths until as many objects were seen Ready. */
export async function watchReady(kube: KubeApi, paths: readonly string[], count: number): Promise<ReadyWatch> {
  const seen = new Set<string>();
  const all = Promise.withResolvers<number>();
  const timer = setTimeout(() => all.reject(new Error(`only ${seen.size} of ${count} are Ready`)), patience);
  const ends = await Promise.all(
    paths.map((path) =>
      follow(kube, path, ({ object }) => {
        const uid = readyUid(object);
        if (uid === undefined) return;
        seen.add(uid);
        if (seen.size === count) all.resolve(performance.now());
      }),
    ),
  );
  const end = (): void => {
    clearTimeout(timer);
    for (const one of ends) one();
  };
  all.promise.finally(end).catch(() => undefined);
  return { all: all.promise, end };
}

function readyUid({ metadata, status }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isObject(metadata) || !isObject(status) || !Array.isArray(status['conditions'])) return undefined;
  const ready = status['conditions'].filter(isObject).find(({ type }) => type === 'Ready');
  const isReady = ready?.['status'] === 'True' && ready['observedGeneration'] === metadata['generation'];
  return isReady ? String(metadata['uid']) : undefined;
}
