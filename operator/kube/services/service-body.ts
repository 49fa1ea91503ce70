import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../crds/json-value.ts';
import { KubeError } from '../client/kube-error.ts';
import { metadataOf } from '../client/kube-object.ts';
import { MANAGED_BY } from '../client/names.ts';

/** Specification of the Service of a box. */
export interface ServiceSpec {
  readonly type: 'ExternalName';
  readonly externalName: string;
  readonly ports: readonly {
    readonly name: string;
    readonly port: number;
    readonly protocol: string;
    readonly targetPort: number;
  }[];
}

/** A Service as the cluster has it. */
export interface StoredService {
  readonly uid: string;
  readonly resourceVersion: string;
  /** True if it has the label of the objects that we create. */
  readonly isOurs: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Returns the specification: an alias of the API's own Service. Gateways and Ingresses need the port, DNS does not. */
export function serviceSpec(externalName: string): ServiceSpec {
  return { type: 'ExternalName', externalName, ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }] };
}

/** Reads a Service. Throws KubeError `garbled` if the value is not one. */
export function storedService(value: unknown): StoredService {
  const { spec } = isObject(value) ? value : {};
  const { uid, resourceVersion, labels } = metadataOf(value);
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string' || !isObject(spec))
    throw new KubeError('garbled', 'the answer is no Service');
  const isOurs = Object.entries(MANAGED_BY).every(([key, text]) => isObject(labels) && labels[key] === text);
  return { uid, resourceVersion, isOurs, spec };
}

/**
 * Returns the merge patch that restores the specification, which is refused if the Service is another one or has
 * changed; undefined if nothing differs.
 */
export function servicePatch({ uid, resourceVersion, spec }: StoredService, wanted: ServiceSpec): object | undefined {
  const isSame = Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(spec[name], value));
  if (isSame && spec['selector'] === undefined) return undefined;
  // An address that the type ClusterIP was given does not belong to an alias.
  const cleared = { selector: null, clusterIP: null, clusterIPs: null };
  return { metadata: { uid, resourceVersion }, spec: { ...cleared, ...wanted } };
}
