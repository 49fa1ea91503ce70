import { isObject } from '../../../../crds/path.ts';
import type { ControlPlane } from '../../../support/cluster/control-plane.ts';

/** A Secret of a cluster as a test looks at it. */
export interface FoundSecret {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly type: unknown;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly owners: readonly Readonly<Record<string, unknown>>[];
  /** Decoded. */
  readonly data: Readonly<Record<string, string>>;
}

/** The Secrets of one namespace, as its admin reads and writes them. */
export interface TestSecrets {
  find(name: string): Promise<FoundSecret | undefined>;
  /** Makes a Secret with the label by which clients may refer to it, or with other metadata. */
  make(name: string, data: Readonly<Record<string, string>>, more?: object): Promise<void>;
  /** Changes it by a merge patch; throws what the API server says against it. */
  patch(name: string, body: object): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The label by which a Secret may be referred to. */
export const label = { 'boxgate.dev/client-secret': 'true' };

/** The Secrets of a namespace of a control plane. */
export function testSecrets(plane: ControlPlane, namespace: string): TestSecrets {
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const must = async (work: ReturnType<ControlPlane['call']>): Promise<void> => {
    const { status, body } = await work;
    if (status > 299) throw new Error(JSON.stringify(body));
  };
  return {
    async find(name) {
      const { status, body } = await plane.call({ path: `${path}/${name}` });
      return status === 404 ? undefined : foundSecret(body);
    },
    make(name, data, more = {}) {
      const body = { metadata: { name, labels: label }, stringData: data, ...more };
      return must(plane.call({ method: 'POST', path, body }));
    },
    patch: (name, body) =>
      must(plane.call({ method: 'PATCH', path: `${path}/${name}`, body, contentType: 'application/merge-patch+json' })),
    async remove(name) {
      await plane.call({ method: 'DELETE', path: `${path}/${name}` });
    },
  };
}

function foundSecret(body: unknown): FoundSecret {
  const { metadata, data, type } = isObject(body) ? body : {};
  if (!isObject(metadata)) throw new Error(`no Secret: ${JSON.stringify(body)}`);
  const { uid, resourceVersion, ownerReferences: owners } = metadata;
  const decoded = Object.entries(isObject(data) ? data : {}).map(
    ([key, text]) => [key, Buffer.from(String(text), 'base64').toString('utf8')] as const,
  );
  return {
    uid: String(uid),
    resourceVersion: String(resourceVersion),
    type,
    labels: recordOf(metadata['labels']),
    annotations: recordOf(metadata['annotations']),
    owners: Array.isArray(owners) ? owners.filter(isObject) : [],
    data: Object.fromEntries(decoded),
  };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
