import type { DeclaredSecret } from '../../desired/declared.ts';
import type { BoxSecrets, SecretNeeds } from '../../desired/source.ts';
import { secretForbidden, secretNotRead } from './secret-forbidden.ts';
import type { SecretWatches } from './watches.ts';
import type { UnlabelledSecrets } from './unlabelled-secrets.ts';

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
  const unknown = [...needs.referred].filter((name) => store.get(box, name) === undefined);
  if (state === 'pending') return { find: () => secretNotRead(), isTaken };
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
