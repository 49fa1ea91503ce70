import { CoreV1Api, OpenidApi, WellKnownApi } from '@kubernetes/client-node';
import { isObject } from '../../../crds/path.ts';
import type { PublicKey, ServiceAccountSettings } from '../../../api/client/cluster.ts';
import { type KubeApi, type KubeCall, metadataOnly } from '../client/kube-api.ts';
import { accountName, type AccountName, type ExpectedAccount } from '../../desired/declared.ts';
import { KubeError } from '../client/kube-error.ts';
import { identityOf, liveUid, metadataOf } from '../client/kube-object.ts';
import { ListWatch, type Listening } from '../client/list-watch.ts';
import type { Kept } from '../client/object-store.ts';

/** The ServiceAccounts of a cluster. Nothing is listed, and no right is needed, before the first box asks. */
export interface ServiceAccountWatch {
  /** Calls back with each box that has asked for a ServiceAccount of a namespace in which one changed. */
  begin(onChange: (box: string) => void, signal: AbortSignal): void;
  /**
   * Returns the uids of ServiceAccounts by `namespace/name`, null for a missing one. A live read checks everything that
   * is not as expected. Unknown ones are left out. The box is called back from now on for those that it lists, and for
   * no others.
   */
  readonly uids: (
    box: string,
    listed: readonly AccountName[],
    asked: readonly ExpectedAccount[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, string | null>>;
}

const plural = 'serviceaccounts';

/** Watches the metadata of all ServiceAccounts, once a client lists one. */
export function createServiceAccountWatch(options: Listening): ServiceAccountWatch {
  /** By namespace: the boxes that have asked. */
  const asking = new Map<string, Set<string>>();
  let begun: { readonly onChange: (box: string) => void; readonly signal: AbortSignal } | undefined;
  let watched: ListWatch<Kept> | undefined;
  let isSynced = false;

  function start(): void {
    if (begun === undefined || watched !== undefined) return;
    const { onChange, signal } = begun;
    const tell = (boxes: Iterable<string>): void => {
      for (const box of boxes) onChange(box);
    };
    watched = new ListWatch(
      {
        ...options,
        api: metadataOnly(options.api),
        collection: { plural, list: (make, query) => make(CoreV1Api).listServiceAccountForAllNamespaces(query) },
        keep: (value) => identityOf(metadataOf(value)),
        novelty: { isSame: () => true, carry: (_known, next) => next },
        onChange: (namespace) => tell(asking.get(namespace) ?? []),
      },
      signal,
    );
    void watched.synced.then(() => {
      isSynced = true;
      tell(new Set([...asking.values()].flatMap((boxes) => [...boxes])));
    });
  }

  function note(box: string, namespaces: ReadonlySet<string>): void {
    for (const [namespace, boxes] of asking) {
      if (!namespaces.has(namespace) && boxes.delete(box) && boxes.size === 0) asking.delete(namespace);
    }
    for (const namespace of namespaces) asking.set(namespace, (asking.get(namespace) ?? new Set()).add(box));
  }

  async function uidOf(
    account: AccountName,
    expected: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<string | null | undefined> {
    const known = watched?.store.get(account.namespace, account.name);
    // A watch may not show yet that it was created again.
    if (known !== undefined && expected.size === 1 && expected.has(known.uid)) return known.uid;
    try {
      const { namespace, name } = account;
      const read: KubeCall = (make) => make(CoreV1Api).readNamespacedServiceAccount({ namespace, name });
      return (await liveUid(options.api, read, { group: '', plural, name }, signal)) ?? null;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      options.onFailure(error, 0);
      return undefined;
    }
  }

  return {
    begin(onChange, signal) {
      begun = { onChange, signal };
    },
    async uids(box, listed, asked, signal) {
      note(box, new Set(listed.map(({ namespace }) => namespace)));
      if (listed.length > 0) start();
      const found = new Map<string, string | null>();
      if (!isSynced) return found;
      const wanted = Map.groupBy(asked, accountName);
      for (const [key, entries] of wanted) {
        const [account] = entries;
        const expected = new Set(entries.map(({ uid }) => uid));
        const uid = account && (await uidOf(account, expected, signal));
        if (uid !== undefined) found.set(key, uid);
      }
      return found;
    },
  };
}

/**
 * Reads the issuer and keys of the cluster's ServiceAccount tokens, as the API server itself serves them (OpenID
 * Connect Discovery §3): `jwks_uri` may name a host elsewhere, and is not followed. Throws KubeError.
 */
export async function readServiceAccountKeys(api: KubeApi, signal: AbortSignal): Promise<ServiceAccountSettings> {
  const [discovery, keys] = await Promise.all([
    api.call((make) => make(WellKnownApi).getServiceAccountIssuerOpenIDConfiguration(), signal),
    api.call((make) => make(OpenidApi).getServiceAccountIssuerOpenIDKeyset(), signal, {
      accept: 'application/jwk-set+json',
    }),
  ]);
  const issuer = isObject(discovery) ? discovery['issuer'] : undefined;
  if (typeof issuer !== 'string' || issuer === '')
    throw new KubeError('garbled', 'the OpenID configuration of the cluster has no issuer');
  return { issuer, keys: { keys: keysIn(keys) } };
}

/** Returns the keys of a set. An empty list is a failure, not a cluster without keys: no token would be valid. */
function keysIn(set: unknown): readonly PublicKey[] {
  const found: unknown = isObject(set) ? set['keys'] : undefined;
  const keys = Array.isArray(found) ? found.filter(isPublicKey) : [];
  if (keys.length > 0) return keys;
  throw new KubeError('garbled', 'the key set of the cluster has no keys');
}

function isPublicKey(value: unknown): value is PublicKey {
  return isObject(value) && typeof value['kty'] === 'string';
}
