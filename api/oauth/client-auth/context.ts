import type { BoxState } from '../../box/box-state.ts';
import type { CurrentStatements, Transaction } from '../../box/state-cache.ts';
import type { OAuthServices } from '../services.ts';
import type { GuessLimits } from '../../credentials/client-secret.ts';

/** Dependencies of client authentication: a box's configuration at one version, and the ways to Postgres. */
export interface AuthenticationContext {
  readonly state: BoxState;
  readonly statements: CurrentStatements;
  readonly transaction: Transaction;
  readonly services: OAuthServices;
  readonly checks: RequestChecks;
}

/** Dependencies of one request, which only the endpoint that read it can provide. */
export interface RequestChecks {
  /** Limits on guesses, called before a secret is verified slowly; an exception stops that. */
  readonly guessLimits?: GuessLimits;
  /** Check of a user's password; if left out, every password is wrong. */
  readonly verifyPassword?: VerifyPassword | undefined;
  /** The request, for the audit trail. */
  readonly caller?: Caller;
}

/** Address of a caller, empty if it is unknown, and ID of the request. */
interface Caller {
  readonly remoteAddr: string;
  readonly requestId: string;
}

/**
 * Returns the id of the user with this email and password; undefined if there is none who may sign in. Users are looked
 * up elsewhere (api/users), so the reader of the request provides this. Throws Outage, or Problem `throttled`.
 */
type VerifyPassword = (email: string, password: string) => Promise<number | undefined>;
