import { CoreV1Api } from '@kubernetes/client-node';
import { isObject, parseJson } from '../../../crds/path.ts';
import { hash } from 'node:crypto';
import { Secret } from '../../../api/client/secret.ts';
import { PASSWORD_BYTES } from '../../../crds/secret-text.ts';
import type { DeclaredSecret } from '../../desired/declared.ts';
import type { CallOptions, KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';
import { FIELD_MANAGER as fieldManager, identityOf, metadataOf } from '../client/kube-object.ts';
import type { Kept, Novelty } from '../client/object-store.ts';

/** Owner of a Secret. */
export interface SecretOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: boolean;
}

/** Stored content of a Secret, without its names. */
export interface SecretContent {
  readonly type: string;
  /** RFC 3339. */
  readonly created: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owners: readonly SecretOwner[];
  /** Base64; see {@link brief}. */
  readonly data: Readonly<Record<string, string>>;
}

/** Stored part of a Secret of a cluster. Printing it shows none of the content. */
export class StoredSecret implements Kept {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Version in which it last said something new. */
  readonly version: string;
  /** A {@link SecretContent} as JSON. */
  readonly #content: string;
  #declared: DeclaredSecret | undefined;

  /** `content` is a {@link SecretContent} as JSON. */
  constructor({ namespace, name, uid, resourceVersion }: Kept, content: string, version = resourceVersion) {
    this.namespace = namespace;
    this.name = name;
    this.uid = uid;
    this.resourceVersion = resourceVersion;
    this.version = version;
    this.#content = content;
  }

  /** Parsed again at each call. */
  get content(): SecretContent {
    const content = parseJson(this.#content);
    return contentOf(isObject(content) ? content : {}, (text) => text);
  }

  isSameAs(other: StoredSecret): boolean {
    return this.#content === other.#content;
  }

  /** Returns the same Secret in a newer version that says nothing new. */
  in({ resourceVersion }: Kept): StoredSecret {
    const { namespace, name, uid, version } = this;
    const same = new StoredSecret({ namespace, name, uid, resourceVersion }, this.#content, version);
    same.#declared = this.#declared;
    return same;
  }

  /** Returns the form that clients refer to; the same values as long as it says nothing new. */
  declared(): DeclaredSecret {
    this.#declared ??= this.#asDeclared();
    return this.#declared;
  }

  #asDeclared(): DeclaredSecret {
    const { namespace, name } = this;
    const { type, labels } = this.content;
    const entries = new Map<string, Secret>();
    const get = (key: string): Secret | undefined => {
      const value = entries.get(key) ?? this.#entry(key);
      if (value !== undefined) entries.set(key, value);
      return value;
    };
    return { namespace, name, type, labels, entries: { get } };
  }

  #entry(key: string): Secret | undefined {
    const { data } = this.content;
    return secretOf(Object.hasOwn(data, key) ? data[key] : undefined);
  }
}

/** Novelty of Secrets: the bookkeeping of Kubernetes and its tools is not new. */
export const secretNovelty: Novelty<StoredSecret> = {
  isSame: (known, next) => known.isSameAs(next),
  carry: (known, next) => known.in(next),
};

/** Returns the part of a Secret that the operator reads; undefined if the value is not one. */
export function storedSecret(value: unknown): StoredSecret | undefined {
  const metadata = metadataOf(value);
  const identity = identityOf(metadata);
  if (identity === undefined) return undefined;
  const { type, data } = isObject(value) ? value : {};
  const { creationTimestamp, labels, annotations, ownerReferences } = metadata;
  const parts = { type, created: creationTimestamp, labels, annotations, owners: ownerReferences, data };
  return new StoredSecret(identity, JSON.stringify(contentOf(parts, brief)));
}

/** Reads the answer of a call about a Secret. Throws KubeError `garbled` if it is none. */
export function answeredSecret(answer: unknown): StoredSecret {
  const stored = storedSecret(answer);
  if (stored === undefined) throw new KubeError('garbled', 'the answer is no Secret');
  return stored;
}

/** Returns the valid parts of a Secret; `keep` is applied to each text. */
function contentOf(
  { type, created, labels, annotations, owners, data }: Readonly<Record<string, unknown>>,
  keep: (text: string) => string,
): SecretContent {
  return {
    type: typeof type === 'string' ? type : '',
    created: typeof created === 'string' ? created : '',
    labels: textsOf(labels, keep),
    annotations: textsOf(annotations, keep),
    owners: Array.isArray(owners) ? owners.flatMap(ownerOf) : [],
    data: textsOf(data, keep),
  };
}

/**
 * Limit in characters: of a longer text the beginning and the digest are kept, as a Secret may have a mebibyte. The
 * beginning is still longer than any password may be: a value that was cut is refused, never used.
 */
const longest = 4 * Math.ceil((PASSWORD_BYTES + 4) / 3);

/** Returns the stored form of a value: itself, or for a long one its beginning and digest. */
export function brief(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}#${hash('sha256', text)}`;
}

/** Returns the text of a stored value, or its beginning. */
export function textOfData(kept: string): string {
  return Buffer.from(kept.slice(0, longest), 'base64').toString('utf8');
}

function secretOf(kept: string | undefined): Secret | undefined {
  return kept === undefined ? undefined : new Secret(textOfData(kept));
}

/** Keys of Kubernetes and its tools, which are ignored: one may hold the whole Secret once more. */
const toolsOwn = /^([^/]*\.)?kubernetes\.io\/(?!managed-by$)/;

/** Returns the texts sorted by name: equal content is equal JSON. */
function textsOf(value: unknown, keep: (text: string) => string): Record<string, string> {
  const given = isObject(value) ? value : {};
  const texts = Object.keys(given)
    .sort()
    .flatMap((key) => {
      const text = given[key];
      return typeof text === 'string' && !toolsOwn.test(key) ? [[key, keep(text)] as const] : [];
    });
  return Object.fromEntries(texts);
}

function ownerOf(value: unknown): SecretOwner[] {
  if (!isObject(value)) return [];
  const { apiVersion, kind, name, uid, controller } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return [];
  if (typeof name !== 'string' || typeof uid !== 'string') return [];
  return [{ apiVersion, kind, name, uid, controller: controller === true }];
}

/** Name of a Secret. */
export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** Reads a Secret. Throws KubeError. */
export function readSecret(
  api: KubeApi,
  { namespace, name }: SecretName,
  signal: AbortSignal,
  options?: CallOptions,
): Promise<unknown> {
  return api.call((make) => make(CoreV1Api).readNamespacedSecret({ namespace, name }), signal, options);
}

/** Creates a Secret; returns it. Throws KubeError. */
export function createSecret(
  api: KubeApi,
  secret: { readonly namespace: string; readonly body: object },
  signal: AbortSignal,
): Promise<unknown> {
  return api.call((make) => make(CoreV1Api).createNamespacedSecret({ ...secret, fieldManager }), signal);
}

/** Changes a Secret by a merge patch; returns it as it is then. Throws KubeError. */
export function patchSecret(
  api: KubeApi,
  { namespace, name }: SecretName,
  body: object,
  signal: AbortSignal,
): Promise<unknown> {
  return api.call((make) => make(CoreV1Api).patchNamespacedSecret({ namespace, name, body, fieldManager }), signal, {
    patch: 'merge',
  });
}

/** Deletes a Secret if it is still in this version. Throws KubeError. */
export async function deleteSecret(
  api: KubeApi,
  { namespace, name, uid, resourceVersion }: SecretName & { readonly uid: string; readonly resourceVersion: string },
  signal: AbortSignal,
): Promise<void> {
  const body = { preconditions: { uid, resourceVersion } };
  await api.call((make) => make(CoreV1Api).deleteNamespacedSecret({ namespace, name, body }), signal);
}
