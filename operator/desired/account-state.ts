import type { ServiceAccount } from '../../crds/client.ts';

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
