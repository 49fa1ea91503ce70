import { KubeError } from '../client/kube-error.ts';
import { pathOfObject } from '../client/live-read.ts';
import { FIELD_MANAGER } from '../client/names.ts';
import { storedSecret, type StoredSecret } from './stored-secret.ts';
import { SECRETS } from './watches.ts';

/** Query of a write of a Secret. */
export const query = { fieldManager: FIELD_MANAGER };

/** Returns the path of a Secret. */
export function pathOf(namespace: string, name: string): string {
  return pathOfObject({ ...SECRETS, namespace, name });
}

/** Reads the answer of a call about a Secret. Throws KubeError `garbled` if it is none. */
export function parsed(path: string, answer: unknown): StoredSecret {
  const stored = storedSecret(answer);
  if (stored === undefined) throw new KubeError('garbled', `${path}: the answer is no Secret`);
  return stored;
}
