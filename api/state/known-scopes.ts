import type { AccessPolicy } from '../../crds/access-policy.ts';
import type { Box } from '../../crds/box.ts';
import type { Client } from '../../crds/client.ts';
import { RESERVED_SCOPES } from '../../crds/scopes.ts';

/** Scopes that can be looked up. */
export type Scopes = Pick<ReadonlySet<string>, 'has'>;

/**
 * The scopes that a box knows: the {@link RESERVED_SCOPES}, and those that its Box or one of its clients lists. A box
 * ignores any other scope of a request (OpenID Connect Core §3.1.2.1).
 */
export interface KnownScopes extends Scopes {
  /** Adds the scopes that a resource lists, in place of those that it listed before. */
  put(resource: Client | AccessPolicy | Box): void;
  /** Removes the scopes that only this resource listed. */
  remove(name: { readonly kind: string; readonly id: string }): void;
}

/** Creates the known scopes of an empty box. */
export function createKnownScopes(): KnownScopes {
  const lists = new Map<string, readonly string[]>();
  /** Number of lists that each scope is in. */
  const counts = new Map<string, number>();

  function count(scopes: readonly string[], change: 1 | -1): void {
    for (const scope of scopes) {
      const left = (counts.get(scope) ?? 0) + change;
      if (left > 0) counts.set(scope, left);
      else counts.delete(scope);
    }
  }

  function remove({ kind, id }: { readonly kind: string; readonly id: string }): void {
    const key = `${kind}/${id}`;
    count(lists.get(key) ?? [], -1);
    lists.delete(key);
  }

  return {
    has: (scope) => reserved.has(scope) || counts.has(scope),
    remove,
    put(resource) {
      const { resourceType: kind, id } = resource;
      const listed = listedIn(resource);
      remove({ kind, id });
      if (listed.length === 0) return;
      count(listed, 1);
      lists.set(`${kind}/${id}`, listed);
    },
  };
}

const reserved: ReadonlySet<string> = new Set(RESERVED_SCOPES);

function listedIn(resource: Client | AccessPolicy | Box): readonly string[] {
  if (resource.resourceType === 'Client') return resource.scope ?? [];
  return resource.resourceType === 'Box' ? Object.keys(resource.scopes ?? {}) : [];
}
