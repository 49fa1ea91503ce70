import { waitAfter } from '../back-off.ts';
import { CLIENT_SECRET_LABEL } from '../resolve-secret.ts';
import type { KubeApi } from './kube-api.ts';
import { KubeError } from './kube-error.ts';
import { startListWatch, type ListWatchOptions } from './list-watch.ts';
import { pathOfKind } from './live-read.ts';
import type { ObjectStore } from './object-store.ts';
import { secretNovelty, storedSecret, type StoredSecret } from './stored-secret.ts';

/** The labelled Secrets of a namespace, as far as they were heard of. */
export interface NamespaceSecrets {
  readonly store: ObjectStore<StoredSecret>;
  /** `pending`: not listed yet; `forbidden`: the operator has no rights on them (any more). */
  readonly state: 'known' | 'pending' | 'forbidden';
}

/** The labelled Secrets of the namespaces that need them, each namespace by a list-watch of its own. */
export interface SecretWatches {
  /** Tells of namespaces from now on in which something changed, until aborted. */
  begin(onChange: (namespace: string) => void, signal: AbortSignal): void;
  /** Listens to a namespace from now on; resolves once it was listed, or that failed, or takes too long to wait for. */
  look(namespace: string, signal: AbortSignal): Promise<NamespaceSecrets>;
  /** What is known of a namespace; undefined: nobody listens to it. */
  known(namespace: string): NamespaceSecrets | undefined;
  /** Stops to listen to a namespace. */
  leave(namespace: string): void;
}

/** What watches of Secrets work with. */
export type SecretWatchOptions = Pick<
  ListWatchOptions<StoredSecret>,
  'api' | 'times' | 'random' | 'now' | 'sleep' | 'onFailure'
>;

/** Where Secrets are. */
export const SECRETS = { group: '', version: 'v1', plural: 'secrets' } as const;

/** Milliseconds that a pass waits for the first list of a namespace. */
const patience = 1_000;
/** How long a namespace that is forbidden is left alone: an admin who binds the role need not wait for long. */
const forbiddenBackOff = { first: 500, ceiling: 10_000 };

/** Watches of nothing yet. */
export function createSecretWatches(options: SecretWatchOptions): SecretWatches {
  const watched = new Map<string, WatchedNamespace>();
  let begun: { readonly onChange: (namespace: string) => void; readonly signal: AbortSignal } | undefined;

  return {
    begin(onChange, signal) {
      begun = { onChange, signal };
    },
    async look(namespace, signal) {
      if (begun === undefined) throw new TypeError('nobody listens to what changes');
      const known = watched.get(namespace) ?? new WatchedNamespace(namespace, options, begun.onChange, begun.signal);
      watched.set(namespace, known);
      if (known.state === 'pending') await Promise.race([known.firstAnswer, options.sleep(patience, signal)]);
      return known;
    },
    known: (namespace) => watched.get(namespace),
    leave(namespace) {
      watched.get(namespace)?.stop();
      watched.delete(namespace);
    },
  };
}

class WatchedNamespace implements NamespaceSecrets {
  readonly store: ObjectStore<StoredSecret>;
  readonly firstAnswer: Promise<undefined>;
  readonly #stopping = new AbortController();
  readonly #tell: () => void;
  #isListed = false;
  /** How often in a row the API server has said that it is forbidden. */
  #refusals = 0;

  constructor(
    namespace: string,
    options: SecretWatchOptions,
    onChange: (namespace: string) => void,
    signal: AbortSignal,
  ) {
    const answered = Promise.withResolvers<undefined>();
    this.firstAnswer = answered.promise;
    this.#tell = () => {
      if (!this.#stopping.signal.aborted) onChange(namespace);
    };
    const watching = startListWatch(
      {
        ...options,
        api: this.#observed(options.api, options.random),
        path: pathOfKind(SECRETS, namespace),
        labelSelector: `${CLIENT_SECRET_LABEL}=true`,
        keep: storedSecret,
        novelty: secretNovelty,
        onChange: this.#tell,
        onFailure: (error, wait) => {
          // Said on the object, and not every few seconds.
          if (this.state !== 'forbidden' || this.#refusals <= 1) options.onFailure(error, wait);
          answered.resolve(undefined);
        },
      },
      AbortSignal.any([signal, this.#stopping.signal]),
    );
    this.store = watching.store;
    void watching.synced.then(() => {
      this.#isListed = true;
      answered.resolve(undefined);
      this.#tell();
    });
  }

  get state(): NamespaceSecrets['state'] {
    if (this.#refusals > 0) return 'forbidden';
    return this.#isListed ? 'known' : 'pending';
  }

  stop(): void {
    this.#stopping.abort(new Error('nothing in the namespace needs a Secret'));
  }

  /** The API, with its answers listened to: whether we may read Secrets here shows in each of them. */
  #observed(api: KubeApi, random: () => number): KubeApi {
    const noted = async <T>(work: Promise<T>): Promise<T> => {
      try {
        const answer = await work;
        if (this.#refusals > 0) this.#allowed();
        return answer;
      } catch (error) {
        throw error instanceof KubeError && error.sort === 'forbidden' ? this.#refused(error, random) : error;
      }
    };
    return {
      call: (call, signal) => noted(api.call(call, signal)),
      stream: (call, signal) => noted(api.stream(call, signal)),
    };
  }

  #allowed(): void {
    this.#refusals = 0;
    this.#tell();
  }

  #refused(error: KubeError, random: () => number): KubeError {
    this.#refusals += 1;
    if (this.#refusals === 1) this.#tell();
    const retryAfter = waitAfter(this.#refusals, forbiddenBackOff, random);
    return new KubeError('forbidden', error.message, { status: error.status, retryAfter, cause: error });
  }
}
