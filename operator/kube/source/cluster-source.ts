import { CoreV1Api } from '@kubernetes/client-node';
import type { Kind } from '../../../crds/kind.ts';
import { objectKey, type ObjectName } from '../../desired/declared.ts';
import type { HostSource, Source } from '../../desired/source.ts';
import { boxSecrets, type ClusterSecrets } from '../secrets/cluster-secrets.ts';
import {
  createTenancies,
  declaredNamespace,
  type DeclaredNamespace,
  namespaceNovelty,
  type Tenancies,
} from './tenancies.ts';
import { declaredObject, type DeclaredObject, hadGeneratedSecret, isReported, novelty } from './declared-object.ts';
import { type InstalledDefinitions, isDefinitionGoing } from './installed-definitions.ts';
import { createFinalizers, type FinalizerOptions } from './finalizers.ts';
import { KubeError } from '../client/kube-error.ts';
import { metadataOnly, type KubeApi } from '../client/kube-api.ts';
import { forEachConcurrently, isAbout, kindName, listOurs, liveUid, readOurs } from '../client/kube-object.ts';
import type { Collection } from '../client/list.ts';
import { ListWatch, type Listening } from '../client/list-watch.ts';
import {
  createForeignStatusWrites,
  type ForeignStatusWrites,
  type StatusTarget,
  writeStatuses,
} from './status-writer.ts';
import { createServiceAccountWatch } from './service-accounts.ts';
import type { KeepService } from '../services/box-services.ts';
import { unlessAborted } from '../../../program/scheduling.ts';

/** Dependencies of a cluster source. */
export interface ClusterSourceOptions extends Listening {
  /** Returns the time of conditions. */
  readonly date: () => Date;
  /** Namespace that the operator runs in. */
  readonly ownNamespace?: string;
  /** Host of the installation's public URL: no box gets it. */
  readonly publicHost?: string;
  readonly secrets: ClusterSecrets;
  /** Keeps the Service of a box; absent if boxes need none. */
  readonly keepService?: KeepService | undefined;
  /** Definitions of the kinds; absent: those of this release. */
  readonly definitions?: InstalledDefinitions;
}

/** Half a second of writes. Rows that wait end a pass after an eighth of them (decision 10). */
const statusesInTurn = 256;

type Watches = Readonly<Record<Kind, ListWatch<DeclaredObject>>> & {
  readonly namespaces: ListWatch<DeclaredNamespace>;
  readonly tenancies: Tenancies;
};

const kinds: readonly Kind[] = ['Box', 'Client', 'AccessPolicy', 'Group'];

/** Creates a source over our kinds in all namespaces of a cluster. It answers once it is watched. */
export function createClusterSource(options: ClusterSourceOptions): Source {
  const started = Promise.withResolvers<Watches>();
  const synced = started.promise.then(async (watches) => {
    await Promise.all([watches.namespaces.synced, ...kinds.map((kind) => watches[kind].synced)]);
    await options.definitions?.asked;
    watches.tenancies.recheck();
    return watches;
  });
  // There may be no caller yet.
  synced.catch(() => undefined);
  let stores: Watches | undefined;
  const rewritten = createForeignStatusWrites();
  const accounts = createServiceAccountWatch(options);
  const storeOf: FinalizerOptions['storeOf'] = (kind) => stores?.[kind].store;
  const finalizers = createFinalizers({ ...options, ownNamespace: options.ownNamespace, storeOf });

  return {
    statusesInTurn,
    boxSecrets: (box, needs, signal) => boxSecrets(box, needs, options.secrets, signal),
    serviceAccounts: accounts.uids,
    ...(options.keepService === undefined ? {} : { keepService: options.keepService }),
    hosts: hostSource(options, synced, () => stores),
    watch(onChange, signal, onHosts) {
      options.secrets.watches.begin(onChange, signal);
      accounts.begin(onChange, signal);
      options.definitions?.onChange(() => {
        for (const box of listedAgain(stores)) onChange(box);
      });
      const everUsed = new Set<string>();
      const isUsed = (box: string): boolean => kinds.some((kind) => stores?.[kind].store.hasNamespace(box));
      const checkHosts = (...boxes: readonly string[]): void => {
        const changed = stores?.tenancies.recheck() ?? [];
        for (const one of new Set([...changed.filter(isUsed), ...boxes])) onChange(one);
        onHosts?.();
      };
      const start = (kind: Kind): ListWatch<DeclaredObject> =>
        new ListWatch(
          {
            ...options,
            ...listedAs(kind),
            keep(value) {
              const kept = declaredObject(kind, value);
              if (kept !== undefined) {
                finalizers.note(kept);
                rewritten.note(stores?.[kind].store.get(kept.namespace, kept.name), kept);
              }
              return kept;
            },
            novelty,
            onChange(box) {
              everUsed.add(box);
              if (kind === 'Box') checkHosts(box);
              else onChange(box);
            },
          },
          signal,
        );
      const namespaces = watchNamespaces(options, signal, (box) => {
        if (isUsed(box) || (everUsed.has(box) && stores?.namespaces.store.hasNamespace(box) !== true)) checkHosts(box);
        else if (stores?.tenancies.isGrantNew(box) === true) checkHosts();
      });
      const watched = ofEachKind(start);
      const tenancies = createTenancies(watched.Box.store, namespaces.store, options.publicHost ?? '');
      stores = { ...watched, namespaces, tenancies };
      started.resolve(stores);
    },
    boxes: async (signal) => usedBoxes(await unlessStopped(synced, signal)),
    async list(box, signal) {
      const watches = await unlessStopped(synced, signal);
      const kept = kinds.flatMap((kind) => watches[kind].store.inNamespace(box));
      const objects = kept.filter(({ isGoing }) => !isGoing).map(({ declared }) => declared);
      const namespace = watches.namespaces.store.get(box, box) ?? (await namespaceNow(options.api, box, signal));
      // Objects that lists still have of it are outdated.
      if (namespace === undefined) return { objects: [], complete: true, isGone: true };
      const tenancy = watches.tenancies.of(namespace);
      const { quota, database } = namespace;
      return { objects, complete: true, tenancy, quota, database, definitions: options.definitions?.kinds() };
    },
    isListed: (box) => stores?.namespaces.store.hasNamespace(box) === true,
    namespaceOf: async (box, signal) => (await liveNamespace(options.api, box, signal)).claim,
    isReported: (object) => isReported(object, stores?.[object.kind].store.get(object.namespace, object.name)),
    takeForeignStatusWrites: rewritten.take,
    hadGeneratedSecret: (client, secret) => hadGeneratedSecret(stores?.Client.store, client, secret),
    isKindGoing: (kind, signal) => isDefinitionGoing(options.api, kind, signal),
    finalizers,
    confirmGone: (box, objects, signal) => confirmGone(options, box, objects, signal),
    async writeStatus(_box, changed, _gone, signal) {
      const watches = await unlessStopped(synced, signal);
      await writeStatuses(statusTarget(options, watches, rewritten), changed, signal);
    },
  };
}

/** Returns how a kind is listed. The definitions of the release before this one lack Group (decision 28). */
function listedAs(kind: Kind) {
  return { collection: listOurs(kind), isOptional: kind === 'Group' };
}

function ofEachKind<T>(start: (kind: Kind) => T): Readonly<Record<Kind, T>> {
  return { Box: start('Box'), Client: start('Client'), AccessPolicy: start('AccessPolicy'), Group: start('Group') };
}

function statusTarget(
  { api, definitions, onFailure }: ClusterSourceOptions,
  watches: Watches,
  rewritten: ForeignStatusWrites,
): StatusTarget {
  return {
    api,
    storeOf: ({ kind }) => watches[kind].store,
    unwritable: (kind) => definitions?.kinds().get(kind)?.unwritable,
    onRefused(status, error) {
      onFailure(error, 0);
      // The next pass over everything writes it again.
      rewritten.add({ namespace: status.namespace, key: objectKey(status) });
    },
  };
}

/**
 * Requests new lists of all objects, and returns their boxes: with another definition they may look different, and no
 * event reports it.
 */
function listedAgain(watches: Watches | undefined): readonly string[] {
  for (const kind of kinds) watches?.[kind].relist();
  return usedBoxes(watches);
}

/** Returns the boxes in which anything is declared, as far as is known. */
function usedBoxes(watches: Watches | undefined): readonly string[] {
  return [...new Set(kinds.flatMap((kind) => watches?.[kind].store.namespaces() ?? []))];
}

/** Watches only the metadata of Namespaces. */
function watchNamespaces(
  options: ClusterSourceOptions,
  signal: AbortSignal,
  onChange: (box: string) => void,
): ListWatch<DeclaredNamespace> {
  const api = metadataOnly(options.api);
  const kept = { keep: declaredNamespace, novelty: namespaceNovelty };
  return new ListWatch({ ...options, api, collection: NAMESPACES, ...kept, onChange }, signal);
}

function hostSource(options: ClusterSourceOptions, synced: Promise<Watches>, started: () => Watches | undefined) {
  return {
    revision: () => started()?.tenancies.revision() ?? 0,
    async read(also, signal) {
      const { tenancies } = await unlessStopped(synced, signal);
      return tenancies.hosts(also, (box) => grantedNow(options, box, signal));
    },
  } satisfies HostSource;
}

const NAMESPACES: Collection = {
  plural: 'namespaces',
  list: (make, query) => make(CoreV1Api).listNamespace(query),
};

/** Reads the hosts that a Namespace grants now, past every cache; undefined if they cannot be read. */
async function grantedNow(
  { api, onFailure }: ClusterSourceOptions,
  box: string,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    return (await namespaceNow(api, box, signal))?.hosts ?? [];
  } catch (error) {
    onFailure(error, 0);
    return undefined;
  }
}

/** Reads the Namespace; undefined if the API server says that this very Namespace does not exist. Throws KubeError. */
async function namespaceNow(api: KubeApi, name: string, signal: AbortSignal): Promise<DeclaredNamespace | undefined> {
  try {
    return await liveNamespace(api, name, signal);
  } catch (error) {
    if (error instanceof KubeError && isAbout(error, { group: '', plural: 'namespaces', name })) return undefined;
    throw error;
  }
}

/** Reads the Namespace. Throws KubeError, also if there is none: declarations in it are then outdated. */
async function liveNamespace(api: KubeApi, name: string, signal: AbortSignal): Promise<DeclaredNamespace> {
  const found = declaredNamespace(await api.call((make) => make(CoreV1Api).readNamespace({ name }), signal));
  if (found === undefined) throw new KubeError('garbled', `namespaces ${name}: the answer is not a Namespace`);
  return found;
}

/**
 * Returns the objects that the cluster reports as gone; all others stay. While it does not answer at all, the question
 * is open: the error is thrown, and the box is checked again soon.
 */
async function confirmGone(
  { api, onFailure }: ClusterSourceOptions,
  namespace: string,
  objects: readonly ObjectName[],
  signal: AbortSignal,
): Promise<ReadonlySet<ObjectName>> {
  const gone = new Set<ObjectName>();
  await forEachConcurrently(objects, async (object) => {
    try {
      const { kind, name } = object;
      const uid = await liveUid(api, readOurs({ kind, namespace, name }), { ...kindName(kind), name }, signal);
      // Without a uid (a row that was adopted) any object of the name is meant.
      if (uid === undefined || (object.uid !== '' && uid !== object.uid)) gone.add(object);
    } catch (error) {
      if (!(error instanceof KubeError) || error.code === 'unavailable') throw error;
      onFailure(error, 0);
    }
  });
  return gone;
}

function unlessStopped<T>(synced: Promise<T>, signal: AbortSignal): Promise<T> {
  const reason = (): Error => new Error('stopped before the cluster was listed', { cause: signal.reason });
  return unlessAborted(synced, signal, reason);
}
