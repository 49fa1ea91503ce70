import { isObject } from '../../../crds/json-value.ts';
import { QUOTA_ANNOTATION } from '../../../crds/quota.ts';
import { readQuota, type BoxQuota } from '../../desired/namespace-annotations.ts';
import { grantedHosts, HOSTS_ANNOTATION } from '../../desired/host-claims.ts';
import { grantedMetadata, SECRET_METADATA_ANNOTATION } from '../../desired/candidates.ts';
import type { NamespaceClaim } from '../../../api/client/desired-state.ts';
import { identityOf, metadataOf } from '../client/kube-object.ts';
import type { Kept, Novelty } from '../client/object-store.ts';

/** Stored part of a Namespace. Its own name is also its namespace: it is about that box. */
export interface DeclaredNamespace extends Kept {
  readonly isTerminating: boolean;
  readonly claim: NamespaceClaim;
  readonly hosts: readonly string[];
  readonly quota: BoxQuota;
  readonly secretMetadata: readonly string[];
}

/** Novelty of Namespaces: only a change of the stored part is new. */
export const namespaceNovelty: Novelty<DeclaredNamespace> = {
  isSame: (known, next) => said(known) === said(next),
  carry: (_known, next) => next,
};

/** Returns the part of a Namespace that the operator reads; undefined if the value is not a Namespace. */
export function declaredNamespace(value: unknown): DeclaredNamespace | undefined {
  const metadata = metadataOf(value);
  const identity = identityOf(metadata, metadata['name']);
  if (identity === undefined) return undefined;
  const { namespace, name, uid, resourceVersion } = identity;
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {};
  const annotation = (key: string): string | undefined => {
    const text = annotations[key];
    return typeof text === 'string' && text !== '' ? text : undefined;
  };
  const [adopt, discard] = [annotation('boxgate.dev/adopt-uid'), annotation('boxgate.dev/discard-uid')];
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    isTerminating: typeof metadata['deletionTimestamp'] === 'string',
    claim: { uid, ...(adopt === undefined ? {} : { adopt }), ...(discard === undefined ? {} : { discard }) },
    hosts: grantedHosts(annotation(HOSTS_ANNOTATION)),
    quota: readQuota(annotation(QUOTA_ANNOTATION)),
    secretMetadata: grantedMetadata(annotation(SECRET_METADATA_ANNOTATION)),
  };
}

function said({ isTerminating, claim, hosts, quota, secretMetadata }: DeclaredNamespace): string {
  return JSON.stringify([isTerminating, claim, hosts, quota, secretMetadata]);
}
