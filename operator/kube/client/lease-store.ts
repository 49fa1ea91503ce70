import { CustomObjectsApi } from '@kubernetes/client-node';
import { isObject } from '../../../crds/path.ts';
import type { Lease, LeaseStore } from '../../leader/lease.ts';
import type { KubeApi, KubeCall } from './kube-api.ts';
import { KubeError, unlessMissing } from './kube-error.ts';

const LEASES = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' } as const;

/** A Lease with its other content: labels of others are kept. */
interface Found extends Lease {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly transitions: number;
  /** Time when its holder took it; for people, like the other times in it. */
  readonly acquired: unknown;
}

/** Creates the store of a Lease of the cluster, by its namespace and name, that is valid for so many seconds. */
export function createLeaseStore(
  api: KubeApi,
  { namespace, name, seconds }: { readonly namespace: string; readonly name: string; readonly seconds: number },
  clock: () => Date,
): LeaseStore {
  const lease = { ...LEASES, namespace, name };
  /** The Lease as last found or written: a Lease of another version is not overwritten. */
  let last: Found | undefined;

  function found(answer: unknown): Found {
    last = leaseOf(answer);
    return last;
  }

  return {
    async read(signal) {
      const answer = await unlessMissing(
        api.call((make) => make(CustomObjectsApi).getNamespacedCustomObject(lease), signal),
      );
      return answer === undefined ? undefined : found(answer);
    },
    async write(before, holder, signal) {
      const known = before === undefined ? undefined : last;
      if (known !== undefined && known.version !== before?.version) return undefined;
      const body = leaseBody({ namespace, name, seconds }, known, holder, clock());
      try {
        const write: KubeCall =
          known === undefined
            ? (make) => make(CustomObjectsApi).createNamespacedCustomObject({ ...LEASES, namespace, body })
            : (make) => make(CustomObjectsApi).replaceNamespacedCustomObject({ ...lease, body });
        return found(await api.call(write, signal));
      } catch (error) {
        if (error instanceof KubeError && isChanged(error, known !== undefined)) return undefined;
        throw error;
      }
    },
  };
}

/** Checks whether the Lease has changed. If it is to be created, the namespace is what was not found. */
function isChanged({ code }: KubeError, wasThere: boolean): boolean {
  return code === 'conflict' || (code === 'not-found' && wasThere);
}

function leaseBody(
  { namespace, name, seconds }: { readonly namespace: string; readonly name: string; readonly seconds: number },
  known: Found | undefined,
  holder: string,
  now: Date,
): object {
  const time = now.toISOString().replace('Z', '000Z');
  const isSame = known?.holder === holder;
  return {
    apiVersion: `${LEASES.group}/${LEASES.version}`,
    kind: 'Lease',
    // Overwrites only the object and the version that were found.
    metadata: known === undefined ? { namespace, name } : known.metadata,
    spec: {
      holderIdentity: holder,
      // A released Lease does not have to expire.
      leaseDurationSeconds: holder === '' ? 1 : seconds,
      acquireTime: isSame ? known.acquired : time,
      renewTime: time,
      leaseTransitions: (known?.transitions ?? 0) + (known === undefined || isSame ? 0 : 1),
    },
  };
}

function leaseOf(answer: unknown): Found {
  const { metadata, spec = {} } = isObject(answer) ? answer : {};
  if (!isObject(metadata) || typeof metadata['resourceVersion'] !== 'string' || !isObject(spec)) {
    throw new KubeError('garbled', 'the answer is not a Lease');
  }
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, acquireTime } = spec;
  return {
    metadata,
    version: metadata['resourceVersion'],
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    seconds: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0,
    transitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
    acquired: acquireTime,
  };
}
