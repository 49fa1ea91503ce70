import type { BatchedStatements } from '../../db/batched-statements.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { Transaction } from '../../state/state-cache.ts';
import type { OAuthServices } from '../services.ts';

/** Dependencies of client authentication: a box's configuration at one version, and the ways to Postgres. */
export interface AuthenticationContext {
  readonly state: BoxState;
  readonly statements: BatchedStatements;
  readonly transaction: Transaction;
  readonly services: OAuthServices;
}
