import type { EventRecorder } from '../../status/status.ts';
import type { KeptName } from '../../secrets/keeper.ts';
import { forEachConcurrently } from '../client/kube-object.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { isRefused, KubeError, lacksRight } from '../client/kube-error.ts';
import type { ObjectStore } from '../client/object-store.ts';
import { clientOf, releasePatch } from './body.ts';
import { answeredSecret, patchSecret, readSecret, storedSecret, type StoredSecret } from './stored-secret.ts';

/** The Secrets of a box that lose their owners. */
export interface ReleaseOptions {
  readonly api: KubeApi;
  readonly events: EventRecorder;
  readonly box: string;
  readonly store: ObjectStore<StoredSecret> | undefined;
}

/** Attempts of a write whose Secret changes in the meantime. */
const tries = 5;

/**
 * Removes Clients from the owners of their Secrets; returns the Secrets that the API server refuses to change. A
 * namespace that is terminating, or in which we have no rights, keeps nothing anyway. Throws KubeError.
 */
export async function releaseSecrets(
  options: ReleaseOptions,
  kept: readonly KeptName[],
  signal: AbortSignal,
): Promise<readonly KeptName[]> {
  const refused: KeptName[] = [];
  await forEachConcurrently(kept, async (one) => {
    for (let left = tries; left > 0; left -= 1) {
      const stored = await ownedBy(options, one, signal);
      const result = stored === undefined ? 'done' : await released(options, stored, signal);
      if (result === 'refused') refused.push(one);
      if (result !== 'changed') return;
    }
    throw new KubeError('conflict', `Secret ${one.name} changes faster than it can be released`);
  });
  return refused;
}

/** Reads the Secret of a Client as it is now; undefined if it no longer belongs to that Client. */
async function ownedBy(
  { api, box }: ReleaseOptions,
  { name, uid }: KeptName,
  signal: AbortSignal,
): Promise<StoredSecret | undefined> {
  try {
    const stored = storedSecret(await readSecret(api, { namespace: box, name }, signal));
    return stored !== undefined && uid !== undefined && clientOf(stored.content) === uid ? stored : undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code !== 'unavailable') return undefined;
    throw error;
  }
}

async function released(
  options: ReleaseOptions,
  stored: StoredSecret,
  signal: AbortSignal,
): Promise<'done' | 'changed' | 'refused'> {
  const { api, store } = options;
  try {
    const body = releasePatch(stored, clientOf(stored.content) ?? '');
    store?.put(answeredSecret(await patchSecret(api, stored, body, signal)));
    return 'done';
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.code === 'conflict') return 'changed';
    if (error.code === 'unavailable') throw error;
    if (!isRefused(error) || lacksRight(error)) return 'done';
    tellRefused(options, stored, error);
    return 'refused';
  }
}

/** Reports on a retained Client why it is not released: its Secret would be deleted with it. */
function tellRefused(
  { events, box }: ReleaseOptions,
  { name, content }: StoredSecret,
  { message: said }: KubeError,
): void {
  const client = content.owners.find(({ kind, controller }) => kind === 'Client' && controller);
  if (client === undefined) return;
  const object = { kind: 'Client', namespace: box, name: client.name, uid: client.uid } as const;
  const message = `the deletion waits: Secret ${name}, which is to be retained, was refused: ${said}`;
  events.record({ object, type: 'Warning', reason: 'SecretRefused', message });
}
