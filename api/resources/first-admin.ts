import type { Box } from '../../crds/box.ts';
import type { Fault } from '../../crds/fault.ts';
import type { BootstrapAdmin } from '../client/desired-state.ts';
import type { Connection } from '../db/transaction.ts';

/** Stores the first admin of a box under its new config version, in the transaction that holds the box. Throws Outage. */
export type StoreAdmin = (connection: Connection, version: number) => Promise<void>;

/**
 * Makes the first admin of a box (`bootstrap_admin`), once: first what takes time, before the box is locked, then the rest
 * in its transaction. People are made elsewhere (api/users), so whoever puts the API together gives this.
 */
export interface FirstAdmins {
  /** `isFresh`: whoever is in the box now will be gone. The faults when no such user can be made. Throws Outage. */
  prepare(
    box: string,
    settings: Box,
    admin: BootstrapAdmin,
    isFresh: boolean,
  ): Promise<{ readonly faults: readonly Fault[] } | { readonly store: StoreAdmin }>;
}
