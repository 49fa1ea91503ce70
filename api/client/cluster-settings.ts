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
