import type { BoxState } from '../../box/box-state.ts';
import type { CurrentStatements } from '../../box/current-statements.ts';
import type { Transaction } from '../../box/state-cache.ts';
import type { OAuthServices } from '../services.ts';
import type { RequestChecks } from './request-checks.ts';

/** Dependencies of client authentication: a box's configuration at one version, and the ways to Postgres. */
export interface AuthenticationContext {
  readonly state: BoxState;
  readonly statements: CurrentStatements;
  readonly transaction: Transaction;
  readonly services: OAuthServices;
  readonly checks: RequestChecks;
}
