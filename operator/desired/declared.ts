import type { Owner } from '../../api/client/desired-state.ts';
import type { Secret } from '../../api/client/secret.ts';
import type { Kind } from '../../crds/kind.ts';
import type { ServiceAccount } from '../../crds/client.ts';
import { isObject } from '../../crds/path.ts';
import { createHmac, hash, type KeyObject } from 'node:crypto';
import type { PreviousSecret } from '../secrets/rotation.ts';

/** One declared object, as its source (a cluster, a folder) has it now. */
export interface Declared {
  /** Key of the object within its box: {@link objectKey}. */
  readonly key: string;
  readonly kind: Kind;
  /** The box. */
  readonly namespace: string;
  readonly name: string;
  /** Changes when the object is deleted and created again. */
  readonly uid: string;
  /** Creation time, sortable as text: of two objects that claim one id the older one has it. */
  readonly created: string;
  /** Increases with each change of the spec. */
  readonly generation: number;
  /** Changes whenever anything that we read of the object changes. */
  readonly resourceVersion: string;
  /** Returns the whole object as declared, not yet validated; until then the source may keep it in another form. */
  readonly body: () => unknown;
  /** Characters of a spec that is too long to be applied: the source keeps only its `id` and `suspend`. */
  readonly tooLarge?: number | undefined;
  /** Characters of the spec as JSON; absent if nothing is written back to the object. */
  readonly length?: number;
  /** Location of the object, for people: `examples/reporting.yaml:12`; empty in a cluster. */
  readonly place: string;
}

/** A Secret that clients may refer to. */
export interface DeclaredSecret {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Entries by key; the same key always returns the same Secret. */
  readonly entries: Pick<ReadonlyMap<string, Secret>, 'get'>;
}

/** Returns the key of an object within its box: `Client/app`. */
export function objectKey({ kind, name }: Pick<Declared, 'kind' | 'name'>): string {
  // Not a template literal: it builds a string of parts, which takes twice the memory once it is a key.
  return [kind, name].join('/');
}

/** An object of a box that is to be read again, or waited for. */
export type ObjectName = Pick<Declared, 'kind' | 'name' | 'uid'>;

/** Names and uid that tell one object from all others. */
export type Identity = Pick<Declared, 'namespace' | 'name' | 'uid'>;

/** Returns the object as the API knows it: the owner of its row. */
export function ownerOf({ namespace, name, uid }: Identity): Owner {
  return { name: `${namespace}/${name}`, uid };
}

/** Returns the object that an owner names. */
export function declarerOf({ name, uid }: Owner): Identity {
  const slash = name.indexOf('/');
  return { namespace: name.slice(0, slash), name: name.slice(slash + 1), uid };
}

/** Namespace and name of a ServiceAccount. */
export type AccountName = Pick<ServiceAccount, 'namespace' | 'name'>;

/** A ServiceAccount that is expected to exist, with its uid. */
export type ExpectedAccount = AccountName & Required<Pick<ServiceAccount, 'uid'>>;

/** A pinned entry of a Client's `service_accounts`, and the ServiceAccount of that name in the cluster. */
export interface AccountState {
  readonly namespace: string;
  readonly name: string;
  /** The pinned uid: the one in the entry, otherwise that of the first ServiceAccount that got a token. */
  readonly uid: string;
  /** Index of the entry in the list. */
  readonly index: number;
  /**
   * Uid of the ServiceAccount in the cluster; null: none, or another one in a foreign namespace; undefined: unknown.
   */
  readonly seen: string | null | undefined;
  /** True if the pinned ServiceAccount no longer exists. */
  readonly gone: boolean;
}

/** Returns `namespace/name` of a ServiceAccount. */
export function accountName({ namespace, name }: AccountName): string {
  return `${namespace}/${name}`;
}

/** Returns the first entry whose ServiceAccount is not the pinned one; undefined if there is none. */
export function strangerAmong(accounts: readonly AccountState[]): AccountState | undefined {
  return accounts.find(({ uid, seen, gone }) => (seen === undefined ? gone : seen !== uid));
}

/** Returns a fingerprint of 128 bits of the canonical JSON of a value (members sorted by name). */
export function fingerprint(value: unknown): string {
  return hash('sha256', JSON.stringify(canonical(value)), 'buffer').toString('base64url', 0, 16);
}

/** Secret part of a digest: a secret, with the previous one while valid; none; or the one that the API has kept. */
export type SecretPart = { readonly value: Secret; readonly previous?: PreviousSecret } | 'none' | 'kept';

/**
 * Returns the digest that is stored with a row: 128 bits of HMAC-SHA256 over the resource's fingerprint and its secret,
 * hexadecimal. It is keyed, because a plain hash over a chosen secret would be a fast hash of it next to the slow one.
 */
export function digestOf(key: KeyObject, content: string, secret: SecretPart): string {
  return createHmac('sha256', key)
    .update(`${content}\n${partText(secret)}`)
    .digest()
    .toString('hex', 0, 16);
}

function partText(secret: SecretPart): string {
  if (typeof secret === 'string') return secret;
  const { value, previous } = secret;
  const beside =
    previous === undefined ? '' : `\nprevious:${previous.value?.reveal() ?? ''}\n${String(previous.until)}`;
  return `secret:${value.reveal()}${beside}`;
}

/** Marks lists and objects differently; members become a list of pairs, so that one called __proto__ stays a member. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return ['[', ...value.map(canonical)];
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return ['{', ...names.map((name) => [name, canonical(value[name])])];
}
