import { randomBytes } from 'node:crypto';
import { Secret } from '../../../api/client/secret.ts';
import { generatedSecretText } from '../../../crds/generated-secret-text.ts';
import type { EventRecorder } from '../../status/status.ts';
import type { SecretKeeper } from '../../secrets/keeper.ts';
import { ClusterSecretKeeper } from './keeper.ts';
import { createSecretWatches, secretForbidden, secretNotRead, type SecretWatches } from './watches.ts';
import type { DeclaredSecret } from '../../desired/declared.ts';
import type { BoxSecrets, SecretNeeds } from '../../desired/source.ts';
import { isObject } from '../../../crds/path.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';
import type { Listening } from '../client/list-watch.ts';
import { forEachConcurrently } from '../client/kube-object.ts';
import { readSecret } from './stored-secret.ts';

/** Secrets of a cluster: the lookups of its source, and the keeper of the generated ones. */
export interface SecretsOfCluster {
  readonly secrets: ClusterSecrets;
  readonly keeper: SecretKeeper;
}

/** Creates access to the Secrets of a cluster; `account` is the operator's ServiceAccount, as `namespace:name`. */
export function createClusterSecrets(listening: Listening, account: string, events: EventRecorder): SecretsOfCluster {
  const watches = createSecretWatches(listening);
  const unlabelled = createUnlabelledSecrets(listening.api, listening.now);
  const keeper = new ClusterSecretKeeper({
    api: listening.api,
    watches,
    events,
    now: () => new Date(),
    generate: () => new Secret(generatedSecretText(randomBytes(32))),
    account,
  });
  return { secrets: { watches, unlabelled, account }, keeper };
}

/** Lookups of a cluster's Secrets; `account` is the operator's, as `namespace:name`. */
export interface ClusterSecrets {
  readonly watches: SecretWatches;
  readonly unlabelled: UnlabelledSecrets;
  readonly account: string;
}

/** Returns the Secrets that a box needs. While they cannot be read, each lookup says so: nothing else waits. */
export async function boxSecrets(
  box: string,
  needs: SecretNeeds,
  { watches, unlabelled, account }: ClusterSecrets,
  signal: AbortSignal,
): Promise<BoxSecrets> {
  if (needs.referred.size === 0 && !needs.generated) {
    watches.leave(box);
    return { find: () => undefined, isTaken };
  }
  const { state, store } = await watches.look(box, signal);
  if (state === 'forbidden') return { find: () => secretForbidden(box, account), isTaken };
  if (state === 'pending') return { find: () => secretNotRead(), isTaken };
  const unknown: string[] = [];
  for (const name of needs.referred) {
    if (store.get(box, name) === undefined) unknown.push(name);
    else unlabelled.forget(box, name);
  }
  const hidden = await unlabelled.among(box, unknown, signal);
  const find = (name: string): DeclaredSecret | undefined =>
    store.get(box, name)?.declared() ?? (hidden.has(name) ? withoutLabel(box, name) : undefined);
  return { find, isTaken };
}

/** Returns false: the keeper of generated secrets checks the owner of a Secret. */
function isTaken(): boolean {
  return false;
}

/** Returns a Secret without a label; nothing else of it was read. */
function withoutLabel(namespace: string, name: string): DeclaredSecret {
  return { namespace, name, type: '', labels: {}, entries: new Map() };
}

/** Tells an unlabelled Secret from a missing one. */
export interface UnlabelledSecrets {
  /** Returns the names of existing Secrets among these, none of which is the name of a labelled one. */
  among(namespace: string, names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Forgets the answer about a Secret that is seen with its label. */
  forget(namespace: string, name: string): void;
}

/** Milliseconds for which answers are remembered: no pass asks again for what the last one asked. */
const remembered = 30_000;

/** Creates lookups that read only metadata: the content of unlabelled Secrets is not ours. `now` in milliseconds. */
function createUnlabelledSecrets(api: KubeApi, now: () => number): UnlabelledSecrets {
  /** By namespace and name: whether there is such a Secret. */
  const answers = new Map<string, boolean>();
  let forgotten = now();

  return {
    async among(namespace, names, signal) {
      if (now() - forgotten >= remembered) {
        answers.clear();
        forgotten = now();
      }
      const found = new Set<string>();
      await forEachConcurrently(names, async (name) => {
        const key = `${namespace}/${name}`;
        const isThere = answers.get(key) ?? (await isSecret(api, namespace, name, signal));
        answers.set(key, isThere);
        if (isThere) found.add(name);
      });
      return found;
    },
    forget: (namespace, name) => void answers.delete(`${namespace}/${name}`),
  };
}

/** Checks whether a Secret exists. An unknown one is treated as missing: the client waits, whatever the reason. */
async function isSecret(api: KubeApi, namespace: string, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    return isObject(await readSecret(api, { namespace, name }, signal, { metadataOnly: true }));
  } catch (error) {
    if (error instanceof KubeError) return false;
    throw error;
  }
}
