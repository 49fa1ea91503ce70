import { MOST_HOSTS } from '../../../api/client/cluster.ts';
import { isObject } from '../../../crds/path.ts';
import { assignableHosts, type HostClaim, HOSTS_ANNOTATION, validateHosts } from '../../desired/hosts.ts';
import type { BoxDatabase, BoxQuota, HostReading, HostGrants, Tenancy } from '../../desired/source.ts';
import type { DeclaredObject } from './declared-object.ts';
import type { Kept, Novelty, ObjectStore } from '../client/object-store.ts';
import { DATABASE_ANNOTATION } from '../../../crds/kind.ts';
import { QUOTA_ANNOTATION } from '../../../crds/quota.ts';
import { annotationEntries, readDatabase, readQuota, SECRET_METADATA_ANNOTATION } from '../../desired/candidates.ts';
import type { NamespaceClaim } from '../../../api/client/desired-state.ts';
import { identityOf, metadataOf } from '../client/kube-object.ts';

/** Settings of the namespaces of a cluster for their boxes. */
export interface Tenancies {
  /** Returns the settings of a Namespace for its box. */
  of(namespace: DeclaredNamespace): Tenancy;
  /** Decides again who gets which host, after a change of a Box or Namespace; returns the boxes it changed. */
  recheck(): readonly string[];
  /** Checks whether a Namespace grants other hosts than when it was last validated. */
  isGrantNew(box: string): boolean;
  /** Returns a number that changes whenever {@link Tenancies.hosts} would return something else. */
  revision(): number;
  /** Validates and returns the hosts of all boxes. `missing` reads grants that no list has; undefined: unreadable. */
  hosts(
    also: readonly string[],
    missing: (box: string) => Promise<readonly string[] | undefined>,
  ): Promise<HostReading>;
}

/** Creates tenancies that validate the Boxes and Namespaces of these stores. */
export function createTenancies(
  boxes: ObjectStore<DeclaredObject>,
  namespaces: ObjectStore<DeclaredNamespace>,
  publicHost: string,
): Tenancies {
  /** By box: the grants of its Namespace when it was last seen. */
  const grants = new Map<string, readonly string[]>();
  let verdicts: ReadonlyMap<string, HostGrants> = new Map();
  let validated = '';
  let revision = 0;

  function claims(): readonly HostClaim[] {
    return boxes.namespaces().flatMap((box) =>
      boxes
        .inNamespace(box)
        .filter(({ name, isGoing }) => name === 'box' && !isGoing)
        .map(({ uid, declared }) => ({
          box,
          uid,
          created: declared.created,
          hosts: hostsOf(declared.body()),
          granted: grants.get(box) ?? [],
        })),
    );
  }

  /** Updates the grants. A list that lacks a Namespace takes no host away: only a live read does. */
  function takeGrants(): void {
    for (const box of namespaces.namespaces()) {
      const { hosts = [] } = namespaces.get(box, box) ?? {};
      if (hosts.length > 0 || grants.has(box)) grants.set(box, hosts);
    }
  }

  function move(): void {
    const now = JSON.stringify([
      [...verdicts].map(([box, { allowed }]) => [box, allowed]),
      [...grants].map(([box, hosts]) => [box, hosts, namespaces.hasNamespace(box)]),
    ]);
    if (now !== validated) revision += 1;
    validated = now;
  }

  function recheck(): readonly string[] {
    const before = verdicts;
    takeGrants();
    verdicts = validateHosts(claims(), publicHost);
    move();
    return [...verdicts.keys()].filter((box) => said(before.get(box)) !== said(verdicts.get(box)));
  }

  return {
    of: ({ name, claim, isTerminating, secretMetadata }) => ({
      claim,
      isTerminating,
      secretMetadata,
      hosts: verdicts.get(name) ?? none,
    }),
    recheck,
    isGrantNew: (box) =>
      JSON.stringify(namespaces.get(box, box)?.hosts ?? []) !== JSON.stringify(grants.get(box) ?? []),
    revision: () => revision,
    async hosts(also, missing) {
      const concerned = new Set([...grants.keys(), ...verdicts.keys(), ...also]);
      for (const box of concerned) {
        if (namespaces.hasNamespace(box) || grants.get(box)?.length === 0) continue;
        const granted = await missing(box);
        if (granted !== undefined) grants.set(box, granted);
      }
      recheck();
      const known = [...concerned].filter((box) => namespaces.hasNamespace(box) || grants.has(box));
      const found = known.map((box) => {
        const { allowed } = verdicts.get(box) ?? none;
        // An annotation may grant more than a call takes: claimed hosts come first, and no call of all boxes fails.
        const granted = assignableHosts([...allowed, ...(grants.get(box) ?? [])], publicHost).slice(0, MOST_HOSTS);
        return { box, granted, claimed: assignableHosts(allowed, publicHost) };
      });
      return { revision, boxes: found };
    },
  };
}

const none: HostGrants = { allowed: [], refused: [] };

function said(verdict: HostGrants | undefined): string {
  return JSON.stringify(verdict ?? none);
}

function hostsOf(body: unknown): readonly string[] {
  const spec = isObject(body) ? body['spec'] : undefined;
  const hosts = isObject(spec) ? spec['hosts'] : undefined;
  return Array.isArray(hosts) ? hosts.filter((host) => typeof host === 'string') : [];
}

/** Stored part of a Namespace. Its own name is also its namespace: it is about that box. */
export interface DeclaredNamespace extends Kept {
  readonly isTerminating: boolean;
  readonly claim: NamespaceClaim;
  readonly hosts: readonly string[];
  readonly quota: BoxQuota;
  readonly database: BoxDatabase;
  readonly secretMetadata: readonly string[];
}

/** Novelty of Namespaces: only a change of the stored part is new. */
export const namespaceNovelty: Novelty<DeclaredNamespace> = {
  isSame: (known, next) => textOf(known) === textOf(next),
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
  const accepted = /^\d{1,16}$/.exec(annotation('boxgate.dev/accept-data-loss') ?? '')?.[0];
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    isTerminating: typeof metadata['deletionTimestamp'] === 'string',
    claim: {
      uid,
      ...(adopt === undefined ? {} : { adopt }),
      ...(discard === undefined ? {} : { discard }),
      ...(accepted === undefined ? {} : { accept_data_loss: Number(accepted) }),
    },
    hosts: annotationEntries(annotation(HOSTS_ANNOTATION)),
    quota: readQuota(annotation(QUOTA_ANNOTATION)),
    database: readDatabase(annotation(DATABASE_ANNOTATION)),
    secretMetadata: annotationEntries(annotation(SECRET_METADATA_ANNOTATION)),
  };
}

function textOf({ isTerminating, claim, hosts, quota, database, secretMetadata }: DeclaredNamespace): string {
  return JSON.stringify([isTerminating, claim, hosts, quota, database, secretMetadata]);
}
