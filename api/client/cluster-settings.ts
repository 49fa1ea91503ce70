/** Body of `PUT /settings`: what the API is to know of a cluster. The whole of it: what is left out is not there. */
export interface ClusterSettingsCall {
  readonly cluster: string;
  /** The epoch that was claimed; refused as `fenced` once somebody has claimed a later one. */
  readonly epoch: number;
  /** Null: the cluster has none whose tokens authenticate a client. */
  readonly service_accounts: ServiceAccountSettings | null;
}

/** Who makes the tokens of a cluster's ServiceAccounts. */
export interface ServiceAccountSettings {
  /** Their `iss`. */
  readonly issuer: string;
  /** The public keys that sign them now, all of them (RFC 7517 §5): a token under another one is refused. */
  readonly keys: { readonly keys: readonly PublicKey[] };
}

/** A public key; other members of it are kept. */
export interface PublicKey {
  readonly kty: string;
}

/** Answer of `PUT /settings`, once every request that begins is judged by them. */
export interface StoredSettings {
  readonly version: number;
}
