/** Body of `PUT /hosts`: the hosts of the boxes of a cluster, before any of them is applied. */
export interface BoxHostsCall {
  readonly cluster: string;
  /** The claimed epoch; refused as `fenced` once a later one has been claimed. */
  readonly epoch: number;
  /** The default issuer of a box is this text with the box's name after it: it needs no host. */
  readonly default_issuers: string;
  readonly boxes: readonly BoxHosts[];
}

/** Hosts of one box in a call, granted or claimed, at most. */
export const MOST_HOSTS = 10_000;

/** The hosts of one box; in lower case. */
export interface BoxHosts {
  readonly box: string;
  /** The hosts that its Namespace grants. Any other host of the box is released, and an issuer on it removed. */
  readonly granted: readonly string[];
  /** The granted hosts that the box gets. A host that it has but does not claim stays until another box claims it. */
  readonly claimed: readonly string[];
}

/** Answer of `PUT /hosts`, once it is committed. */
export interface StoredHosts {
  /** Boxes whose hosts or settings this call has changed. */
  readonly changed: readonly string[];
  /** Claims that were not met, because a box of another cluster has the host. */
  readonly refused: readonly { readonly box: string; readonly host: string }[];
  /** Boxes of this cluster that have a host and that the call does not name. They keep their hosts. */
  readonly unnamed: readonly string[];
}

/** An entry of a client's `service_accounts`, with the current state of its ServiceAccount in the cluster. */
export interface SeenServiceAccount {
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
  /** UID of the existing ServiceAccount; null if there is none. */
  readonly uid: string | null;
  /** The uid that the entry names; absent if it names none. */
  readonly declared?: string;
}

/** An entry pinned by its first token, or by the uid that it names once the cluster has no such ServiceAccount. */
export interface PinnedServiceAccount {
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** True if the ServiceAccount with this uid no longer exists: its tokens are refused. */
  readonly gone: boolean;
}

/** Body of `POST /boxes/<box>/service-accounts`. */
export interface ServiceAccountsCall {
  readonly cluster: string;
  readonly epoch: number;
  /** The known accounts; empty if only the pins are requested. */
  readonly seen: readonly SeenServiceAccount[];
}

/** Its answer: every pin of the clients that the cluster declares in the box, once `seen` is stored. */
export interface ServiceAccountPins {
  readonly pins: readonly PinnedServiceAccount[];
}

/** Body of `PUT /settings`: all settings of a cluster for the API; omitted ones are removed. */
export interface ClusterSettingsCall {
  readonly cluster: string;
  /** The claimed epoch; refused as `fenced` once a later one has been claimed. */
  readonly epoch: number;
  /** Null if no ServiceAccount tokens of the cluster authenticate a client. */
  readonly service_accounts: ServiceAccountSettings | null;
}

/** Issuer of the tokens of a cluster's ServiceAccounts. */
export interface ServiceAccountSettings {
  /** Their `iss`. */
  readonly issuer: string;
  /** All public keys for the current signatures (RFC 7517 §5): a token under another key is refused. */
  readonly keys: { readonly keys: readonly PublicKey[] };
}

/** A public key; its other members are kept. */
export interface PublicKey {
  readonly kty: string;
}

/** Answer of `PUT /settings`, once every new request is decided by the settings. */
export interface StoredSettings {
  readonly version: number;
}
