import { isObject } from '../../../crds/path.ts';
import { waitAfter, type BackOff } from '../../reconcile/work-queue.ts';
import type { KubeApi } from './kube-api.ts';
import { KubeError, noAnswer } from './kube-error.ts';
import { list, type Collection } from './list.ts';
import { isOlder, ObjectStore, type Kept, type Novelty } from './object-store.ts';
import { watch, type WatchEvent } from './watch.ts';

/** Times and limits of a list-watch; milliseconds unless stated otherwise. Spread randomly over many watches. */
export interface ListWatchTimes {
  readonly pageSize: number;
  /** Seconds that a watch lasts, and up to a fifth more; then the next one continues where it ended. */
  readonly watchSeconds: number;
  /** Time without data after which a watch has failed: its server sends a bookmark before it ends. */
  readonly silence: number;
  /** Time between two lists of everything: an event that never arrived costs one period. */
  readonly relistPeriod: number;
  /** Minimum time between the starts of two requests, even if every watch ends immediately. */
  readonly interval: number;
  readonly backOff: BackOff;
}

/** Detects a half-open connection in 35 s, and finds a server that is back in 4 s. */
export const defaultTimes: ListWatchTimes = {
  // An object has up to 1.5 MB: this many are read and dropped before the next page is requested.
  pageSize: 100,
  watchSeconds: 25,
  silence: 35_000,
  relistPeriod: 300_000,
  interval: 1_000,
  backOff: { first: 200, ceiling: 4_000 },
};

/** Dependencies of a list-watch. */
export interface ListWatchOptions<T extends Kept> {
  readonly api: KubeApi;
  readonly collection: Collection;
  /** Only objects with these labels. */
  readonly labelSelector?: string;
  /**
   * True for a kind that may have no definition in the cluster (404): then it counts as listed, without an object, and
   * is listed again after `watchSeconds`.
   */
  readonly isOptional?: boolean;
  /** Returns the stored part of an object; undefined if it is not an object of the kind. */
  readonly keep: (object: unknown) => T | undefined;
  readonly novelty: Novelty<T>;
  /** Called for each namespace in which something changed. */
  readonly onChange: (namespace: string) => void;
  /** Called whenever a watch has begun: everything was listed, and what changes is heard of. */
  readonly onWatching?: () => void;
  /** Called on every failure, with the milliseconds until the next try. */
  readonly onFailure: (error: unknown, wait: number) => void;
  readonly times: ListWatchTimes;
  readonly random: () => number;
  /** Milliseconds, from a clock that never goes back. */
  readonly now: () => number;
  /** Resolves after that many milliseconds, and immediately when aborted. */
  readonly sleep: (wait: number, signal: AbortSignal) => Promise<void>;
}

/** The API, times and clocks that all list-watches of a cluster share. */
export type Listening = Pick<ListWatchOptions<Kept>, 'api' | 'times' | 'random' | 'now' | 'sleep' | 'onFailure'>;

/** Milliseconds after which a session was a good one: a failure after it is the first failure. */
const steady = 10_000;
/** Number of outdated lists in a row after which the cluster is taken to be restored from its own past. */
const staleLists = 5;

/**
 * The objects of a kind, listed and watched until aborted. To start over, create another one: nothing of an ended one
 * is used again.
 */
export class ListWatch<T extends Kept> {
  readonly store: ObjectStore<T>;
  /** Resolves when everything was listed once. */
  readonly synced: Promise<void>;
  /** Resolves when nothing runs any more, after the signal was aborted; never rejects. */
  readonly ended: Promise<void>;
  readonly #options: ListWatchOptions<T>;
  readonly #signal: AbortSignal;
  readonly #isSynced = Promise.withResolvers<undefined>();
  /** Everything up to this version is known; undefined: a list is needed. */
  #version: string | undefined;
  /** The newest version ever seen. */
  #newest = '0';
  #stale = 0;
  #relistAt = 0;

  constructor(options: ListWatchOptions<T>, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.store = new ObjectStore(options.novelty);
    this.synced = this.#isSynced.promise.then(() => undefined);
    this.ended = this.#run();
  }

  /** Requests a list of everything once the running watch ends. */
  relist(): void {
    this.#relistAt = 0;
  }

  async #run(): Promise<void> {
    const { now, random, times, sleep, onFailure } = this.#options;
    let failures = 0;
    while (!this.#isOver()) {
      const began = now();
      let wait = 0;
      try {
        await this.#session();
        failures = 0;
      } catch (thrown) {
        if (this.#isOver()) return;
        failures = now() - began > steady ? 1 : failures + 1;
        const error = noAnswer(this.#options.collection.plural, thrown);
        if (error.code === 'expired' || error.code === 'garbled') this.#version = undefined;
        wait = Math.max(waitAfter(failures, times.backOff, random), error.retryAfter);
        if (error.code === 'not-found' && this.#options.isOptional === true) wait = this.#withoutDefinition();
        onFailure(thrown, wait);
      }
      await sleep(Math.max(0, wait, times.interval - (now() - began)), this.#signal);
    }
  }

  /** Runs one watch, after a list if one is due. */
  async #session(): Promise<void> {
    const { now, times, api, collection, random, labelSelector } = this.#options;
    if (this.#version === undefined || now() >= this.#relistAt) await this.#list();
    const version = this.#version;
    if (this.#isOver() || version === undefined) return;
    const timeoutSeconds = Math.round(times.watchSeconds * (1 + random() / 5));
    const how = { timeoutSeconds, silence: times.silence, labelSelector, onOpen: this.#options.onWatching };
    const events = watch(api, { collection, resourceVersion: version }, how, this.#signal);
    for await (const event of events) this.#take(event);
  }

  async #list(): Promise<void> {
    const { api, collection, labelSelector, keep, times, now, random } = this.#options;
    const how = { collection, pageSize: times.pageSize, labelSelector };
    const { objects, resourceVersion } = await list(api, how, keep, this.#signal);
    if (this.#isOver()) return;
    if (isOlder(resourceVersion, this.#newest)) {
      this.#stale += 1;
      if (this.#stale < staleLists)
        throw new KubeError('unavailable', `${collection.plural}: the list is older than what was seen`);
      this.store.letOlderIn();
    }
    this.#stale = 0;
    this.#newest = resourceVersion;
    this.#version = resourceVersion;
    this.#relistAt = now() + times.relistPeriod * (0.9 + random() / 5);
    for (const namespace of this.store.replace(objects, resourceVersion)) this.#tell(namespace);
    this.#isSynced.resolve(undefined);
  }

  /** Answers without an object; a removal needs a live read, which a kind without a definition never confirms. */
  #withoutDefinition(): number {
    this.#isSynced.resolve(undefined);
    return this.#options.times.watchSeconds * 1000;
  }

  #take({ type, object }: WatchEvent): void {
    if (type === 'BOOKMARK') {
      this.#advance(versionOf(object));
      return;
    }
    const kept = this.#options.keep(object);
    if (kept === undefined)
      throw new KubeError('garbled', `${this.#options.collection.plural}: an event of something else`);
    // Already known: events of one watch arrive in their order.
    if (this.#version !== undefined && isOlder(kept.resourceVersion, this.#version)) return;
    const isNew = type === 'DELETED' ? this.store.remove(kept) : this.store.put(kept);
    this.#advance(kept.resourceVersion);
    if (isNew) this.#tell(kept.namespace);
  }

  #advance(version: string): void {
    if (this.#version === undefined || !isOlder(version, this.#version)) this.#version = version;
    if (!isOlder(version, this.#newest)) this.#newest = version;
  }

  #isOver(): boolean {
    return this.#signal.aborted;
  }

  /** Notifies the listener, which must not be able to stop the watch. */
  #tell(namespace: string): void {
    try {
      this.#options.onChange(namespace);
    } catch (error) {
      this.#options.onFailure(error, 0);
    }
  }
}

function versionOf({ metadata }: WatchEvent['object']): string {
  const version = isObject(metadata) ? metadata['resourceVersion'] : undefined;
  if (typeof version !== 'string') throw new KubeError('garbled', 'a bookmark has no version');
  return version;
}
