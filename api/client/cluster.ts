import Type, { type Static } from 'typebox';
import { DNS_LABEL, HOST_NAME, listOf } from '../../crds/fields.ts';
import { callMembers, text } from './desired-state.ts';

/** Hosts of one box in a call, granted or claimed, at most. */
export const MOST_HOSTS = 10_000;

const hostNames = listOf(Type.String({ pattern: HOST_NAME, maxLength: 253 }), { maxItems: MOST_HOSTS });

const boxHosts = Type.Object({
  box: Type.String({ pattern: DNS_LABEL, maxLength: 63 }),
  /** The hosts that its Namespace grants. Any other host of the box is released, and an issuer on it removed. */
  granted: hostNames,
  /** The granted hosts that the box gets. A host that it has but does not claim stays until another box claims it. */
  claimed: hostNames,
});

/** The hosts of one box; in lower case. */
export type BoxHosts = Readonly<Static<typeof boxHosts>>;

/** Body of `PUT /hosts`: the hosts of the boxes of a cluster, before any of them is applied. */
export const boxHostsCall = Type.Object({
  ...callMembers,
  /** The default issuer of a box is this text with the box's name after it: it needs no host. */
  default_issuers: Type.String({ maxLength: 2048 }),
  boxes: listOf(boxHosts),
});

/** See {@link boxHostsCall}. */
export type BoxHostsCall = Readonly<Static<typeof boxHostsCall>>;

/** Answer of `PUT /hosts`, once it is committed. */
export const storedHosts = Type.Object({
  /** Boxes whose hosts or settings this call has changed. */
  changed: listOf(Type.String()),
  /** Claims that were not met, because a box of another cluster has the host. */
  refused: listOf(Type.Object({ box: Type.String(), host: Type.String() })),
  /** Boxes of this cluster that have a host and that the call does not name. They keep their hosts. */
  unnamed: listOf(Type.String()),
});

/** See {@link storedHosts}. */
export type StoredHosts = Readonly<Static<typeof storedHosts>>;

const account = { client: text, namespace: text, name: text };

const seenServiceAccount = Type.Object({
  ...account,
  /** UID of the existing ServiceAccount; null if there is none. */
  uid: Type.Union([text, Type.Null()]),
  /** The uid that the entry names; absent if it names none. */
  declared: Type.Optional(text),
});

/** An entry of a client's `service_accounts`, with the current state of its ServiceAccount in the cluster. */
export type SeenServiceAccount = Readonly<Static<typeof seenServiceAccount>>;

const pinnedServiceAccount = Type.Object({
  ...account,
  uid: text,
  /** True if the ServiceAccount with this uid no longer exists: its tokens are refused. */
  gone: Type.Boolean(),
});

/** An entry pinned by its first token, or by the uid that it names once the cluster has no such ServiceAccount. */
export type PinnedServiceAccount = Readonly<Static<typeof pinnedServiceAccount>>;

/** Body of `POST /boxes/<box>/service-accounts`: the known accounts; none if only the pins are requested. */
export const serviceAccountsCall = Type.Object({ ...callMembers, seen: listOf(seenServiceAccount) });

/** See {@link serviceAccountsCall}. */
export type ServiceAccountsCall = Readonly<Static<typeof serviceAccountsCall>>;

/** Its answer: every pin of the clients that the cluster declares in the box, once `seen` is stored. */
export const serviceAccountPins = Type.Object({ pins: listOf(pinnedServiceAccount) });

/** See {@link serviceAccountPins}. */
export type ServiceAccountPins = Readonly<Static<typeof serviceAccountPins>>;

/** A public key; its other members are kept. */
export interface PublicKey {
  readonly kty: string;
}

const publicKey = Type.Unsafe<PublicKey>(
  Type.Object({
    kty: Type.Enum(['RSA', 'EC', 'OKP']),
    // The private part, and that of a symmetric key: its sender must learn of the mistake.
    d: Type.Optional(Type.Never()),
    k: Type.Optional(Type.Never()),
  }),
);

const serviceAccountSettings = Type.Object({
  /** Their `iss`. */
  issuer: Type.String({ minLength: 1, maxLength: 2048 }),
  /** All public keys for the current signatures (RFC 7517 §5): a token under another key is refused. */
  keys: Type.Object({ keys: listOf(publicKey, { minItems: 1, maxItems: 64 }) }),
});

/** Issuer of the tokens of a cluster's ServiceAccounts. */
export type ServiceAccountSettings = Readonly<Static<typeof serviceAccountSettings>>;

/** Body of `PUT /settings`: all settings of a cluster for the API; omitted ones are removed. */
export const clusterSettingsCall = Type.Object({
  ...callMembers,
  /** Null if no ServiceAccount tokens of the cluster authenticate a client. */
  service_accounts: Type.Union([serviceAccountSettings, Type.Null()]),
});

/** See {@link clusterSettingsCall}. */
export type ClusterSettingsCall = Readonly<Static<typeof clusterSettingsCall>>;

/** Answer of `PUT /settings`, once every new request is decided by the settings. */
export const storedSettings = Type.Object({ version: Type.Number() });

/** See {@link storedSettings}. */
export type StoredSettings = Readonly<Static<typeof storedSettings>>;
