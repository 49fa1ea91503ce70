import { isObject } from '../../../crds/json-value.ts';
import type { PublicKey, ServiceAccountSettings } from '../../../api/client/cluster-settings.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';

const DISCOVERY = '/.well-known/openid-configuration';
const KEYS = '/openid/v1/jwks';

/**
 * Reads the issuer and keys of the cluster's ServiceAccount tokens, as the API server itself serves them (OpenID
 * Connect Discovery §3): `jwks_uri` may name a host elsewhere, and is not followed. Throws KubeError.
 */
export async function readServiceAccountKeys(api: KubeApi, signal: AbortSignal): Promise<ServiceAccountSettings> {
  const [discovery, keys] = await Promise.all([
    api.call({ path: DISCOVERY }, signal),
    api.call({ path: KEYS, accept: 'application/jwk-set+json' }, signal),
  ]);
  const issuer = isObject(discovery) ? discovery['issuer'] : undefined;
  if (typeof issuer !== 'string' || issuer === '') throw new KubeError('garbled', `${DISCOVERY}: there is no issuer`);
  return { issuer, keys: { keys: keysIn(keys) } };
}

/** Returns the keys of a set. An empty list is a failure, not a cluster without keys: no token would be valid. */
function keysIn(set: unknown): readonly PublicKey[] {
  const found: unknown = isObject(set) ? set['keys'] : undefined;
  const keys = Array.isArray(found) ? found.filter(isPublicKey) : [];
  if (keys.length > 0) return keys;
  throw new KubeError('garbled', `${KEYS}: there are no keys`);
}

function isPublicKey(value: unknown): value is PublicKey {
  return isObject(value) && typeof value['kty'] === 'string';
}
