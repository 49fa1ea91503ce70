import type { NoteEvent } from '../audit/recorded.ts';
import type { Box } from '../../crds/box.ts';
import type { Fault } from '../../crds/fault.ts';
import type { BootstrapAdmin } from '../client/desired-state.ts';
import type { Connection } from '../db/core/transaction.ts';

/** Stores the first admin of a box under its new config version, in the transaction holding the box. Throws Outage. */
export type StoreAdmin = (connection: Connection, version: number, note: NoteEvent) => Promise<void>;

/**
 * Creation of the first admin of a box (`bootstrap_admin`), once: slow work before the box is locked, then the rest in
 * its transaction. Users are created elsewhere (api/users), so the code that assembles the API provides this.
 */
export interface FirstAdmins {
  /** Prepares the admin, or returns its faults. `isFresh`: the box's present users will be gone. Throws Outage. */
  prepare(
    box: string,
    settings: Box,
    admin: BootstrapAdmin,
    isFresh: boolean,
  ): Promise<{ readonly faults: readonly Fault[] } | { readonly store: StoreAdmin }>;
}
