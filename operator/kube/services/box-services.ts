import { BOX_SERVICE, type InClusterAddresses } from '../../desired/addresses.ts';
import type { ServiceState } from '../../desired/source.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError, refusedVerb } from '../client/kube-error.ts';
import { pathOfKind, pathOfObject } from '../client/live-read.ts';
import { FIELD_MANAGER, MANAGED_BY } from '../client/names.ts';
import { roleBindingCommand } from '../client/role-binding-command.ts';
import { unlessMissing } from '../client/unless-missing.ts';
import { isAllowed, type RightOnObject } from '../client/rights.ts';
import { servicePatch, serviceSpec, storedService, type StoredService } from './service-body.ts';

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
      await api.call({ method: 'POST', path: pathOfKind(SERVICES, box), query, body }, signal);
      return { state: 'ready' };
    }
    if (!found.isOurs) return notOwned(addresses, box);
    const patch = servicePatch(found, wanted);
    if (patch === undefined) return { state: 'ready' };
    await api.call({ method: 'PATCH', patch: 'merge', path: pathOf(box), query, body: patch }, signal);
    return { state: 'ready' };
  } catch (error) {
    if (error instanceof KubeError && error.code === 'conflict') return 'changed';
    throw error;
  }
}

async function read(api: KubeApi, box: string, signal: AbortSignal): Promise<StoredService | undefined> {
  const found = await unlessMissing(api.call({ path: pathOf(box) }, signal));
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
  return { verb, group: SERVICES.group, resource: SERVICES.plural, namespace, name: BOX_SERVICE };
}

const SERVICES = { group: '', version: 'v1', plural: 'services' } as const;
const query = { fieldManager: FIELD_MANAGER };

function pathOf(namespace: string): string {
  return pathOfObject({ ...SERVICES, namespace, name: BOX_SERVICE });
}
