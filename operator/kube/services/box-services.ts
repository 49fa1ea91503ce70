import { CoreV1Api } from '@kubernetes/client-node';
import type { OperatorConfig } from '../../config.ts';
import type { ServiceState } from '../../desired/source.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError, refusedVerb, unlessMissing } from '../client/kube-error.ts';
import { FIELD_MANAGER as fieldManager, MANAGED_BY, metadataOf } from '../client/kube-object.ts';
import { isAllowed, type RightOnObject, roleBindingCommand } from '../client/rights.ts';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../crds/path.ts';

/** Name of the Service that leads to a box, in the namespace of the box. */
const BOX_SERVICE = 'boxgate';
/** Name of the API's own Service, in the namespace of the installation. */
const API_SERVICE = 'boxgate-api';

/** Settings of an installation that the addresses inside its cluster consist of. */
type InstallationAddress = Pick<OperatorConfig, 'namespace' | 'clusterDomain' | 'publicTls'>;

/** Addresses of the boxes of an installation inside its cluster. */
interface InClusterAddresses {
  /** DNS name of the API's own Service, which the Service of a box is an alias of. */
  readonly apiService: string;
  /** Returns the token URL of a box for the pods of the cluster. */
  readonly tokenUrl: (box: string) => string;
  /** Returns the token URL that works without the Service in the namespace of the box. */
  readonly directTokenUrl: (box: string) => string;
}

/** Returns the addresses inside the cluster. With TLS both URLs are the same, and no box needs a Service. */
export function inClusterAddresses({ namespace, clusterDomain, publicTls }: InstallationAddress): InClusterAddresses {
  const scheme = publicTls ? 'https' : 'http';
  const directTokenUrl = (box: string): string => `${scheme}://${API_SERVICE}.${namespace}.svc/boxes/${box}/auth/token`;
  return {
    apiService: `${API_SERVICE}.${namespace}.svc.${clusterDomain}`,
    tokenUrl: publicTls ? directTokenUrl : (box) => `http://${BOX_SERVICE}.${box}.svc/auth/token`,
    directTokenUrl,
  };
}

/** Dependencies of the Services of boxes. */
export interface BoxServiceOptions {
  readonly api: KubeApi;
  readonly addresses: InClusterAddresses;
  /** The operator's ServiceAccount, as `namespace:name`. */
  readonly account: string;
}

/** Keeps the Service of a box; returns undefined if its state is unknown now: the last one stays. */
export type KeepService = (box: string, signal: AbortSignal) => Promise<ServiceState | undefined>;

/** Attempts while somebody else changes the Service. */
const tries = 3;

/**
 * Returns a function that keeps the Service `boxgate` of a namespace: an ExternalName of the API's own Service. It
 * reads the Service, and writes only what differs. A Service without our label was created by somebody else, and is
 * never written. Where a right was refused it asks for that right first: metrics of refused calls tell of rights that
 * every installation needs. Throws only when aborted.
 */
export function createBoxServices(options: BoxServiceOptions): KeepService {
  /** By box: the verb that the API server refused last. */
  const refused = new Map<string, string>();
  return async (box, signal) => {
    try {
      const verb = refused.get(box);
      if (verb !== undefined && !(await isAllowed(options.api, rightOn(box, verb), signal)))
        return forbidden(options, box);
      refused.delete(box);
      for (let left = tries; left > 0; left -= 1) {
        const state = await keptOnce(options, box, signal);
        if (state !== 'changed') return state;
      }
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const verb = refusedVerb(error, 'services');
      if (verb === undefined) return refusal(options, box, error);
      refused.set(box, verb);
      return forbidden(options, box);
    }
    return undefined;
  };
}

/** Keeps the Service; returns `changed` if somebody else created or changed it in the meantime. Throws KubeError. */
async function keptOnce(
  { api, addresses }: BoxServiceOptions,
  box: string,
  signal: AbortSignal,
): Promise<ServiceState | 'changed'> {
  const found = await read(api, box, signal);
  const wanted = serviceSpec(addresses.apiService);
  try {
    if (found === undefined) {
      const body = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: BOX_SERVICE, labels: MANAGED_BY },
        spec: wanted,
      };
      await api.call((make) => make(CoreV1Api).createNamespacedService({ namespace: box, body, fieldManager }), signal);
      return { state: 'ready' };
    }
    if (!found.isOurs) return notOwned(addresses, box);
    const patch = servicePatch(found, wanted);
    if (patch === undefined) return { state: 'ready' };
    const changed = { ...serviceOf(box), body: patch, fieldManager };
    await api.call((make) => make(CoreV1Api).patchNamespacedService(changed), signal, { patch: 'merge' });
    return { state: 'ready' };
  } catch (error) {
    if (error instanceof KubeError && error.code === 'conflict') return 'changed';
    throw error;
  }
}

async function read(api: KubeApi, box: string, signal: AbortSignal): Promise<StoredService | undefined> {
  const found = await unlessMissing(api.call((make) => make(CoreV1Api).readNamespacedService(serviceOf(box)), signal));
  return found === undefined ? undefined : storedService(found);
}

function notOwned({ directTokenUrl }: InClusterAddresses, box: string): ServiceState {
  const message = `Service ${BOX_SERVICE} of this namespace was created by somebody else and is not touched; ${directTokenUrl(box)} works without it`;
  return { state: 'missing', reason: 'ServiceNotOwned', message };
}

/** Returns what a failure that is no lack of rights says about the Service; undefined if it says nothing. */
function refusal({ addresses }: BoxServiceOptions, box: string, error: KubeError): ServiceState | undefined {
  const message = `Service ${BOX_SERVICE} was refused: ${error.message}; ${addresses.directTokenUrl(box)} works without it`;
  switch (error.code) {
    // By a quota or an admission rule.
    case 'forbidden':
    case 'invalid':
      return { state: 'missing', reason: 'ServiceRefused', message };
    case 'terminating':
    case 'not-found':
    case 'conflict':
    case 'expired':
    case 'garbled':
    case 'too-large':
    case 'unauthorized':
    case 'unavailable':
      return undefined;
  }
}

function forbidden({ addresses, account }: BoxServiceOptions, box: string): ServiceState {
  const command = roleBindingCommand(box, account);
  const works = `${addresses.directTokenUrl(box)} works without it`;
  const message = `the operator has no rights on the Service ${BOX_SERVICE} of this namespace; ${works}. An admin grants them: ${command}`;
  return { state: 'missing', reason: 'ServiceForbidden', message };
}

function rightOn(namespace: string, verb: string): RightOnObject {
  return { verb, group: '', resource: 'services', ...serviceOf(namespace) };
}

function serviceOf(namespace: string) {
  return { namespace, name: BOX_SERVICE };
}

/** Specification of the Service of a box. */
export interface ServiceSpec {
  readonly type: 'ExternalName';
  readonly externalName: string;
  readonly ports: { name: string; port: number; protocol: string; targetPort: number }[];
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
function serviceSpec(externalName: string): ServiceSpec {
  return { type: 'ExternalName', externalName, ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }] };
}

/** Reads a Service. Throws KubeError `garbled` if the value is not one. */
function storedService(value: unknown): StoredService {
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
function servicePatch({ uid, resourceVersion, spec }: StoredService, wanted: ServiceSpec): object | undefined {
  const isSame = Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(spec[name], value));
  if (isSame && spec['selector'] === undefined) return undefined;
  // An address that the type ClusterIP was given does not belong to an alias.
  const cleared = { selector: null, clusterIP: null, clusterIPs: null };
  return { metadata: { uid, resourceVersion }, spec: { ...cleared, ...wanted } };
}
