import { CoreV1Api } from '@kubernetes/client-node';
import { CLIENT_SECRET_LABEL, missing, type MissingSecret } from '../../secrets/resolve.ts';
import { KubeError } from '../client/kube-error.ts';
import { ListWatch, type Listening } from '../client/list-watch.ts';
import type { ObjectStore } from '../client/object-store.ts';
import { secretNovelty, storedSecret, type StoredSecret } from './stored-secret.ts';
import { roleBindingCommand } from '../client/rights.ts';

/** Labelled Secrets of a namespace, as far as they are known. */
export interface NamespaceSecrets {
  readonly store: ObjectStore<StoredSecret>;
  /** `pending`: not listed and watched yet; `forbidden`: the operator has no rights on them (any more). */
  readonly state: 'known' | 'pending' | 'forbidden';
}

/** Labelled Secrets of the namespaces that need them, each namespace with a list-watch of its own. */
export interface SecretWatches {
  /** Calls back from now on with each namespace in which something changed, until aborted. */
  begin(onChange: (namespace: string) => void, signal: AbortSignal): void;
  /** Watches a namespace from now on; resolves once it was listed, or if that failed, or takes too long to wait for. */
  look(namespace: string, signal: AbortSignal): Promise<NamespaceSecrets>;
  /** Returns the known Secrets of a namespace; undefined if it is not watched. */
  known(namespace: string): NamespaceSecrets | undefined;
  /** Stops watching a namespace. */
  leave(namespace: string): void;
}

/** Milliseconds that a pass waits for the first list of a namespace. */
const patience = 1_000;
/** In milliseconds: many namespaces may be forbidden, and an admin who binds the role need not wait for long. */
const backOff = { first: 500, ceiling: 10_000 };

/** Creates watches, of no namespace yet. */
export function createSecretWatches(options: Listening): SecretWatches {
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
  state: NamespaceSecrets['state'] = 'pending';
  readonly #stopping = new AbortController();
  readonly #answered = Promise.withResolvers<undefined>();
  readonly #tell: () => void;

  constructor(namespace: string, options: Listening, onChange: (namespace: string) => void, signal: AbortSignal) {
    this.firstAnswer = this.#answered.promise;
    this.#tell = () => {
      if (!this.#stopping.signal.aborted) onChange(namespace);
    };
    const watching = new ListWatch(
      {
        ...options,
        times: { ...options.times, backOff },
        collection: {
          plural: 'secrets',
          list: (make, query) => make(CoreV1Api).listNamespacedSecret({ namespace, ...query }),
        },
        labelSelector: `${CLIENT_SECRET_LABEL}=true`,
        keep: storedSecret,
        novelty: secretNovelty,
        onChange: this.#tell,
        onWatching: () => this.#become('known'),
        onFailure: (error, wait) => {
          const isForbidden = error instanceof KubeError && error.code === 'forbidden';
          // The object shows it; it is not reported every few seconds.
          if (!isForbidden || this.state !== 'forbidden') options.onFailure(error, wait);
          if (isForbidden) this.#become('forbidden');
          this.#answered.resolve(undefined);
        },
      },
      AbortSignal.any([signal, this.#stopping.signal]),
    );
    this.store = watching.store;
  }

  stop(): void {
    this.#stopping.abort(new Error('nothing in the namespace needs a Secret'));
  }

  #become(state: NamespaceSecrets['state']): void {
    const isNew = this.state !== state;
    this.state = state;
    this.#answered.resolve(undefined);
    if (isNew) this.#tell();
  }
}

/** Returns why the Secrets of a namespace are unknown; `account` is the operator's, as `namespace:name`. */
export function secretForbidden(namespace: string, account: string): MissingSecret {
  const command = roleBindingCommand(namespace, account);
  return missing('SecretForbidden', `the operator has no rights on the Secrets of this namespace: ${command}`);
}

/** Returns that the Secrets of a namespace were not listed yet. */
export function secretNotRead(): MissingSecret {
  return missing('SecretNotRead', 'the Secrets of this namespace could not be read yet');
}
