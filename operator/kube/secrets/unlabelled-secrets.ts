import { isObject } from '../../../crds/json-value.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';
import { forEachConcurrently } from '../client/concurrency.ts';
import { pathOfObject } from '../client/live-read.ts';
import { SECRETS } from './watches.ts';

/** Tells an unlabelled Secret from a missing one. */
export interface UnlabelledSecrets {
  /** Returns the names of existing Secrets among these, none of which is the name of a labelled one. */
  among(namespace: string, names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
}

/** Milliseconds for which an answer is remembered: no pass asks again for what the last one asked. */
const remembered = 30_000;

/** Creates lookups that read only metadata: the content of unlabelled Secrets is not ours. `now` in milliseconds. */
export function createUnlabelledSecrets(api: KubeApi, now: () => number): UnlabelledSecrets {
  const namespaces = new Map<string, ReadonlyMap<string, Answer>>();

  return {
    async among(namespace, names, signal) {
      const time = now();
      const before = namespaces.get(namespace);
      // A name that is no longer asked for was seen with its label, or nobody wants it.
      const known = new Map<string, Answer>();
      for (const name of names) {
        const answer = before?.get(name);
        if (answer !== undefined && answer.until > time) known.set(name, answer);
      }
      await forEachConcurrently(
        names.filter((name) => !known.has(name)),
        async (name) => {
          const isThere = await isSecret(api, namespace, name, signal);
          known.set(name, { isThere, until: time + remembered });
        },
      );
      if (known.size === 0) namespaces.delete(namespace);
      else namespaces.set(namespace, known);
      return new Set(names.filter((name) => known.get(name)?.isThere === true));
    },
  };
}

interface Answer {
  readonly isThere: boolean;
  readonly until: number;
}

/** Checks whether a Secret exists. An unknown one is treated as missing: the client waits, whatever the reason. */
async function isSecret(api: KubeApi, namespace: string, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    const path = pathOfObject({ ...SECRETS, namespace, name });
    return isObject(await api.call({ path, metadataOnly: true }, signal));
  } catch (error) {
    if (error instanceof KubeError) return false;
    throw error;
  }
}
