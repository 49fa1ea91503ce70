import type { ServiceAccount } from '../crds/client.ts';

/** The name of a ServiceAccount. */
export type AccountName = Pick<ServiceAccount, 'namespace' | 'name'>;

/** A ServiceAccount that is expected to be there under its name. */
export type ExpectedAccount = AccountName & Required<Pick<ServiceAccount, 'uid'>>;

/** A pinned entry of a Client's `service_accounts`, and what the cluster has under its name. */
export interface AccountState {
  readonly namespace: string;
  readonly name: string;
  /** The pin: what the entry names, otherwise the first one that got a token. */
  readonly uid: string;
  /** The place of the entry in the list. */
  readonly index: number;
  /** Uid of the ServiceAccount that is there; null: none, or another one of a foreign namespace; undefined: not known. */
  readonly seen: string | null | undefined;
  /** The pinned one is not there any more. */
  readonly gone: boolean;
}

/** `namespace/name` of a ServiceAccount. */
export function accountName({ namespace, name }: AccountName): string {
  return `${namespace}/${name}`;
}

/** The first entry whose ServiceAccount is not the pinned one; undefined where there is none. */
export function strangerAmong(accounts: readonly AccountState[]): AccountState | undefined {
  return accounts.find(({ uid, seen, gone }) => (seen === undefined ? gone : seen !== uid));
}
