import { isObject, parseJson } from '../../../crds/json-value.ts';
import type { Identity } from '../../desired/declared.ts';
import { isHeld, type DeclaredObject } from '../source/declared-object.ts';
import type { ObjectStore } from '../client/object-store.ts';

/**
 * Checks whether a Client had this generated Secret, by its traces in the cluster: our finalizer, which is added once
 * there is a row, and the status. Its conditions prove nothing: they describe the present, and a Secret that is not
 * read yet is missing.
 */
export function hadGeneratedSecret(
  clients: Pick<ObjectStore<DeclaredObject>, 'get'> | undefined,
  { namespace, name, uid }: Identity,
  secret: string,
): boolean {
  const client = clients?.get(namespace, name);
  if (client?.uid !== uid || !isHeld(client)) return false;
  const status = parseJson(client.status);
  return isObject(status) && status['secret'] === 'generated' && status['secretName'] === secret;
}
