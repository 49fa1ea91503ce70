import type { Secret } from '../../../api/client/secret.ts';
import type { EventRecorder } from '../../status/status.ts';
import {
  resolveKept,
  type KeptName,
  type SecretKeeper,
  type SecretRequest,
  secretEvent,
} from '../../secrets/keeper.ts';
import { missing, type MissingSecret, type ResolvedSecret } from '../../secrets/resolve.ts';
import { nextSecret, type KeptSecret, type SecretChange } from '../../secrets/rotation.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError, refusedVerb } from '../client/kube-error.ts';
import { forEachConcurrently } from '../client/kube-object.ts';
import type { ObjectStore } from '../client/object-store.ts';
import { CLIENT_ID, clientOf, newSecretBody, ownership, SECRET_TYPE, secretIn, secretPatch } from './body.ts';
import { secretForbidden, secretNotRead, type SecretWatches } from './watches.ts';
import { releaseSecrets } from './release-secrets.ts';
import {
  answeredSecret,
  createSecret,
  deleteSecret,
  patchSecret,
  readSecret,
  type StoredSecret,
} from './stored-secret.ts';

/** Dependencies of the keeper of a cluster's Secrets. */
export interface ClusterSecretKeeperOptions {
  readonly api: KubeApi;
  readonly watches: SecretWatches;
  readonly events: EventRecorder;
  readonly now: () => Date;
  /** Returns a new secret of the generated form. */
  readonly generate: () => Secret;
  /** The operator's ServiceAccount, as `namespace:name`. */
  readonly account: string;
}

/** Attempts of a write whose Secret changes in the meantime. */
const tries = 5;
/** Milliseconds until a call that got no answer is repeated. */
const retryAfter = 2_000;

type Store = ObjectStore<StoredSecret>;

/** A request for a Secret of a box, and the store of the Secrets that are known there. */
interface Wanted {
  readonly box: string;
  readonly request: SecretRequest;
  readonly store: Store;
}

/** Next content of a Secret. */
interface Next {
  readonly kept: KeptSecret;
  readonly change: SecretChange;
  readonly isKnown: boolean;
  readonly now: number;
}

/**
 * Stores generated secrets as Secrets next to their Clients, which own them: garbage collection
 * deletes them with their owner. The existing ones are known from the watch, and nothing is read that it will report. A
 * Secret that this very Client does not own is never written.
 */
export class ClusterSecretKeeper implements SecretKeeper {
  readonly #options: ClusterSecretKeeperOptions;
  /** By namespace and name of the Secret: its content as this process last saw it, and the uid of its Client. */
  readonly #last = new Map<string, { readonly uid: string; readonly kept: KeptSecret }>();

  constructor(options: ClusterSecretKeeperOptions) {
    this.#options = options;
  }

  async keep(
    box: string,
    requests: readonly SecretRequest[],
    signal: AbortSignal,
  ): Promise<Map<string, ResolvedSecret>> {
    const secrets = this.#options.watches.known(box);
    const resolved = new Map<string, ResolvedSecret>();
    const isKnown = secrets?.state === 'known';
    const reason = secrets?.state === 'forbidden' ? secretForbidden(box, this.#options.account) : secretNotRead();
    await forEachConcurrently(requests, async (request) => {
      resolved.set(
        request.client,
        isKnown ? await this.#keepOne({ box, request, store: secrets.store }, signal) : reason,
      );
    });
    return resolved;
  }

  version(box: string, name: string): string {
    const secrets = this.#options.watches.known(box);
    return secrets?.state === 'known' ? (secrets.store.get(box, name)?.version ?? '') : '';
  }

  async names(box: string): Promise<readonly KeptName[]> {
    const all = this.#options.watches.known(box)?.store.inNamespace(box) ?? [];
    return all.flatMap(({ name, content }) => {
      const uid = clientOf(content);
      const id = content.annotations[CLIENT_ID];
      return uid === undefined ? [] : [{ name, uid, ...(id === undefined ? {} : { id }) }];
    });
  }

  async release(box: string, kept: readonly KeptName[], signal: AbortSignal): Promise<readonly KeptName[]> {
    this.leave(box, kept);
    return releaseSecrets({ ...this.#options, box, store: this.#store(box) }, kept, signal);
  }

  leave(box: string, kept: readonly KeptName[]): void {
    for (const { name } of kept) this.#last.delete(keyOf(box, name));
  }

  /** Deletes Secrets. A failure is left to garbage collection and to the next sweep: nothing waits for it. */
  async forget(box: string, kept: readonly KeptName[], signal: AbortSignal): Promise<void> {
    await forEachConcurrently(kept, async ({ name, uid }) => {
      this.#last.delete(keyOf(box, name));
      const stored = this.#store(box)?.get(box, name);
      if (stored === undefined || uid === undefined || clientOf(stored.content) !== uid) return;
      try {
        await deleteSecret(this.#options.api, stored, signal);
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
      }
    });
  }

  #store(box: string): Store | undefined {
    return this.#options.watches.known(box)?.store;
  }

  async #keepOne(wanted: Wanted, signal: AbortSignal): Promise<ResolvedSecret> {
    const { box, request, store } = wanted;
    try {
      for (let left = tries; left > 0; left -= 1) {
        const stored = store.get(box, request.secret);
        const done = await (stored === undefined ? this.#make(wanted, signal) : this.#update(wanted, stored, signal));
        if (done !== undefined) return done;
      }
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return this.#problem(box, request, error);
    }
    return { ...missing('SecretNotRead', `Secret ${request.secret} changes all the time`), look: this.#in(retryAfter) };
  }

  /** Creates the Secret; returns undefined if it exists after all, and is known now. */
  async #make(wanted: Wanted, signal: AbortSignal): Promise<ResolvedSecret | undefined> {
    const { box, request } = wanted;
    const next = this.#next(box, request, undefined);
    try {
      const body = newSecretBody(request, next.kept);
      const made = await createSecret(this.#options.api, { namespace: box, body }, signal);
      return this.#note(wanted, answeredSecret(made), next);
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'conflict') throw error;
    }
    return this.#lookAt(wanted, signal);
  }

  async #update(wanted: Wanted, stored: StoredSecret, signal: AbortSignal): Promise<ResolvedSecret | undefined> {
    const { box, request, store } = wanted;
    const whose = ownership(stored.content, request);
    if (typeof whose === 'object') return missing('SecretNotOwned', whose.refused);
    // A program may take one of its own type, or an Opaque one, for its own. No change sets the type.
    if (stored.content.type !== SECRET_TYPE)
      return missing('SecretNotOwned', `Secret ${request.secret} exists, and is not of the type ${SECRET_TYPE}`);
    const next = this.#next(box, request, stored, whose === 'released' && request.inherits);
    const patch = secretPatch(stored, request, next.kept);
    if (patch === undefined) return this.#note(wanted, stored, next);
    try {
      return this.#note(wanted, answeredSecret(await patchSecret(this.#options.api, stored, patch, signal)), next);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 'conflict') return this.#lookAt(wanted, signal);
      if (error.code !== 'not-found') throw error;
      store.remove(stored);
      return undefined;
    }
  }

  /** Reads past the watch, first only the owner: the content of another's Secret is not read. */
  async #lookAt({ box, request, store }: Wanted, signal: AbortSignal): Promise<ResolvedSecret | undefined> {
    const { api } = this.#options;
    const secret = { namespace: box, name: request.secret };
    try {
      const { content } = answeredSecret(await readSecret(api, secret, signal, { metadataOnly: true }));
      const whose = ownership(content, request);
      if (typeof whose === 'object') return { ...missing('SecretNotOwned', whose.refused), look: this.#in(lookAgain) };
      store.put(answeredSecret(await readSecret(api, secret, signal)));
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'not-found') throw error;
      const known = store.get(box, request.secret);
      if (known !== undefined) store.remove(known);
      return undefined;
    }
  }

  /** Decides the next content. `isInherited`: the Secret may be older than the row's, then valid too for an overlap. */
  #next(box: string, request: SecretRequest, stored: StoredSecret | undefined, isInherited = false): Next {
    const { rotation, applied, hadGeneratedSecret, usage } = request;
    const known = this.#last.get(keyOf(box, request.secret));
    const last = known?.uid === request.uid ? known.kept : undefined;
    const found = stored === undefined ? undefined : secretIn(stored.content);
    const now = this.#options.now().getTime();
    const next = nextSecret({ found, last, rotation, applied, hadGeneratedSecret, usage, now }, this.#options.generate);
    const previous = isInherited && next.change === 'none' ? { until: now + rotation.overlap } : undefined;
    return {
      kept: previous === undefined ? next.kept : { previous, ...next.kept },
      change: next.change,
      isKnown: last !== undefined || next.kept.previous !== undefined,
      now,
    };
  }

  #note({ box, request, store }: Wanted, stored: StoredSecret, next: Next): ResolvedSecret {
    const { kept, change, isKnown, now } = next;
    store.put(stored);
    this.#last.set(keyOf(box, request.secret), { uid: request.uid, kept });
    const event = secretEvent(box, request, change, isKnown);
    if (event !== undefined) this.#options.events.record(event);
    return resolveKept(kept, this.version(box, request.secret), request, now);
  }

  #problem(box: string, { secret }: SecretRequest, error: KubeError): MissingSecret {
    switch (error.code) {
      case 'terminating':
        return missing('NamespaceTerminating', 'the namespace is being deleted');
      case 'forbidden':
        // A running watch continues without rights: before it ends it does not show that they are back.
        return refusedVerb(error, 'secrets') !== undefined
          ? { ...secretForbidden(box, this.#options.account), look: this.#in(retryAfter) }
          : this.#refused(secret, error);
      case 'invalid':
        return this.#refused(secret, error);
      case 'not-found':
        return missing('NamespaceTerminating', 'the namespace is gone');
      case 'conflict':
      case 'expired':
      case 'garbled':
      case 'too-large':
      case 'unauthorized':
      case 'unavailable':
        return { ...missing('SecretNotRead', 'the API server does not answer'), look: this.#in(retryAfter) };
    }
  }

  /** Nobody notifies of another admission rule, or of a webhook that is back. */
  #refused(secret: string, { message }: KubeError): MissingSecret {
    return { ...missing('SecretRefused', `Secret ${secret} was refused: ${message}`), look: this.#in(lookAgain) };
  }

  #in(milliseconds: number): number {
    return this.#options.now().getTime() + milliseconds;
  }
}

/** Milliseconds between two checks of a Secret without our label, which is in no watch. */
const lookAgain = 30_000;

function keyOf(box: string, name: string): string {
  // Not a template literal: it builds a string of parts, which takes twice the memory once it is a key.
  return [box, name].join('/');
}
