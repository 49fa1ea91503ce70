import { isRecord } from '../../crds/schema-node.ts';
import { judgeHosts, type HostClaim } from '../host-claims.ts';
import type { HostVerdict, Tenancy } from '../tenancy.ts';
import type { DeclaredNamespace } from './declared-namespace.ts';
import type { DeclaredObject } from './declared-object.ts';
import type { ObjectStore } from './object-store.ts';

/** What the namespaces of a cluster say of their boxes. */
export interface Tenancies {
  /** What a Namespace says of its box. */
  of(namespace: DeclaredNamespace): Tenancy;
  /** To be called when a Box or a Namespace changed: the boxes for which that changes who has a host. */
  judgeAnew(): readonly string[];
}

/** Judges the Boxes and Namespaces of these stores. */
export function createTenancies(
  boxes: ObjectStore<DeclaredObject>,
  namespaces: ObjectStore<DeclaredNamespace>,
  publicHost: string,
): Tenancies {
  /** By box: what its Namespace granted when it was last heard of. */
  const grants = new Map<string, readonly string[]>();
  let verdicts: ReadonlyMap<string, HostVerdict> = new Map();

  function claims(): readonly HostClaim[] {
    return boxes.namespaces().flatMap((box) => {
      // That a list lacks a Namespace takes no host away.
      const granted = namespaces.get(box, box)?.hosts ?? grants.get(box) ?? [];
      grants.set(box, granted);
      return boxes
        .inNamespace(box)
        .filter(({ name, isGoing }) => name === 'box' && !isGoing)
        .map(({ uid, declared }) => ({
          box,
          uid,
          created: declared.created,
          hosts: hostsOf(declared.body()),
          granted,
        }));
    });
  }

  return {
    of: ({ name, claim, isTerminating }) => ({ claim, isTerminating, hosts: verdicts.get(name) ?? none }),
    judgeAnew() {
      const before = verdicts;
      verdicts = judgeHosts(claims(), publicHost);
      return [...verdicts.keys()].filter((box) => said(before.get(box)) !== said(verdicts.get(box)));
    },
  };
}

const none: HostVerdict = { allowed: [], refused: [] };

function said(verdict: HostVerdict | undefined): string {
  return JSON.stringify(verdict ?? none);
}

function hostsOf(body: unknown): readonly string[] {
  const spec = isRecord(body) ? body['spec'] : undefined;
  const hosts = isRecord(spec) ? spec['hosts'] : undefined;
  return Array.isArray(hosts) ? hosts.filter((host) => typeof host === 'string') : [];
}
