import { createLocalJWKSet } from 'jose';
import type { JWTVerifyGetKey } from 'jose';
import type { Client } from '../../../crds/client.ts';
import type { Fault } from '../../../crds/fault.ts';
import type { RemoteKeySets } from './remote-key-sets.ts';

/** The public keys of clients. */
export interface ClientKeys {
  /**
   * Returns the keys of a client; undefined when it has none. `again` fetches `jwks_uri` again, undefined if that is
   * not possible now. `box` is the client's. Throws Outage when they cannot be fetched, Problem `throttled` when the
   * box uses its share of fetches.
   */
  find(client: Client, box: string, how: 'known' | 'again'): Promise<JWTVerifyGetKey | undefined>;
  /** Returns the reason why a client's `jwks_uri` is never fetched; undefined if it is, or the client has none. */
  unlistedHost(client: Client): Fault | undefined;
}

/** Creates the keys of clients: declared keys, and those that `remote` fetches. */
export function createClientKeys(remote: RemoteKeySets): ClientKeys {
  // Keyed by the object that the box holds: a changed client has a new one.
  const declared = new WeakMap<object, JWTVerifyGetKey>();

  function ofDeclared(jwks: NonNullable<Client['jwks']>): JWTVerifyGetKey {
    const known = declared.get(jwks);
    if (known !== undefined) return known;
    const keys = createLocalJWKSet(jwks);
    declared.set(jwks, keys);
    return keys;
  }

  return {
    async find({ jwks, jwks_uri }, box, how) {
      if (jwks_uri !== undefined)
        return how === 'known' ? remote.keys(jwks_uri, box) : remote.refetchedKeys(jwks_uri, box);
      return jwks === undefined || how === 'again' ? undefined : ofDeclared(jwks);
    },
    unlistedHost({ jwks_uri }) {
      if (jwks_uri === undefined || remote.isListed(jwks_uri)) return undefined;
      const host = URL.parse(jwks_uri)?.host ?? '';
      const unlisted = `is on the host ${host}, which BOXGATE_JWKS_HOSTS of the API does not list`;
      return { path: 'jwks_uri', message: `${unlisted}: no keys are fetched from there` };
    },
  };
}
