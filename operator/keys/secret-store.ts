import { isObject } from '../../crds/path.ts';
import type { KubeApi } from '../kube/client/kube-api.ts';
import { KubeError, unlessMissing } from '../kube/client/kube-error.ts';
import { metadataOf } from '../kube/client/kube-object.ts';
import { createSecret, patchSecret, readSecret } from '../kube/secrets/stored-secret.ts';

/** A Secret of the installation as the cluster has it; the values are text, not base64. */
export interface FoundSecret {
  readonly data: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly resourceVersion: string;
}

/** A change of a Secret; null removes a key or an annotation. */
export interface SecretChange {
  readonly data: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** The Secrets of one namespace, read and written by name. Every method throws KubeError on failure. */
export interface SecretStore {
  /** Returns undefined if there is none. */
  read(name: string): Promise<FoundSecret | undefined>;
  /** Creates an Opaque Secret; returns false if one exists, which is left as it is. */
  create(name: string, data: Readonly<Record<string, string>>): Promise<boolean>;
  /** Changes what was read; throws `conflict` if somebody changed it since. */
  change(name: string, found: FoundSecret, change: SecretChange): Promise<void>;
}

/** Creates the store of a namespace; `labels` are those of new Secrets. */
export function createSecretStore(
  api: KubeApi,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  signal: AbortSignal,
): SecretStore {
  return {
    async read(name) {
      const found = await unlessMissing(readSecret(api, { namespace, name }, signal));
      return found === undefined ? undefined : foundSecret(name, found);
    },
    async create(name, data) {
      const body = { metadata: { name, labels }, type: 'Opaque', stringData: data };
      try {
        await createSecret(api, { namespace, body }, signal);
        return true;
      } catch (error) {
        if (error instanceof KubeError && error.code === 'conflict') return false;
        throw error;
      }
    },
    async change(name, { resourceVersion }, { data, annotations }) {
      const body = { metadata: { resourceVersion, annotations }, data: encoded(data) };
      await patchSecret(api, { namespace, name }, body, signal);
    },
  };
}

function foundSecret(name: string, value: unknown): FoundSecret {
  const { data: encodedData } = isObject(value) ? value : {};
  const { annotations, resourceVersion } = metadataOf(value);
  if (typeof resourceVersion !== 'string') throw new KubeError('garbled', `the answer is not the Secret ${name}`);
  const entries = Object.entries(texts(encodedData));
  const data = Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));
  return { data, annotations: texts(annotations), resourceVersion };
}

function texts(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(isObject(value) ? value : {});
  return Object.fromEntries(entries.flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])));
}

function encoded(data: SecretChange['data']): Readonly<Record<string, string | null>> {
  const entries = Object.entries(data);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, text === null ? null : Buffer.from(text).toString('base64')]),
  );
}
