import { isList, isObject } from '../../../crds/json-value.ts';
import type { JsonObject } from '../../../crds/json-value.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Kubectl } from './kubectl.ts';

/**
 * Returns the issuer of the box that a namespace is, from the status of its Box; of a box without that object, from the
 * status of one of its Clients. Throws CliError, also once `signal` is aborted.
 */
export async function issuerInCluster(kubectl: Kubectl, namespace: string, signal?: AbortSignal): Promise<string> {
  const box = await kubectl.get(['boxes.boxgate.dev', 'box', '--namespace', namespace], signal);
  const issuer =
    issuerOf(box) ??
    (await clientsInCluster(kubectl, namespace, signal)).map(issuerOf).find((one) => one !== undefined);
  if (issuer !== undefined) return issuer;
  throw new CliError(
    EXIT.unreachable,
    `the namespace ${namespace} is no box yet: it has neither a Box nor a Client with an issuer in its status`,
  );
}

/** Returns the Clients of a namespace. Throws CliError, also once `signal` is aborted. */
export async function clientsInCluster(
  kubectl: Kubectl,
  namespace: string,
  signal?: AbortSignal,
): Promise<readonly JsonObject[]> {
  const list = await kubectl.get(['clients.boxgate.dev', '--namespace', namespace], signal);
  return (isList(list?.['items']) ? list['items'] : []).filter(isObject);
}

function issuerOf(object: JsonObject | undefined): string | undefined {
  const status = object?.['status'];
  const issuer = isObject(status) ? status['issuer'] : undefined;
  return typeof issuer === 'string' && issuer !== '' ? issuer : undefined;
}
