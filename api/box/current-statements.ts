import type { AssertionUse } from '../db/client-auth/assertion.ts';
import type { BatchedStatements } from '../db/batched-statements.ts';
import type { EntryKey, KnownEntry } from '../db/client-auth/service-account-entry.ts';
import type { FamilyKey } from '../db/session/family-statement.ts';
import type { FoundSession, SessionKey } from '../db/session/check.ts';
import type { FirstOfFamily } from '../db/session/issue-family.ts';
import type { NewSession } from '../db/session/issue.ts';
import type { RefreshFamily } from '../db/session/refresh-family.ts';
import type { RefreshUse } from '../db/session/refresh-statement.ts';
import type { Versioned } from '../db/core/statement.ts';
import type { BoxState } from './box-state.ts';

/** Error that ends an attempt whose configuration is not the current one any more. */
export class ConfigChanged extends Error {
  /** The version that was seen; undefined if there is no such box. */
  readonly version: number | undefined;

  constructor(version: number | undefined) {
    super('the configuration changed during the decision');
    this.version = version;
  }
}

/**
 * The statements of one attempt at a decision. Each one that tells the config version of its box throws ConfigChanged
 * unless that is the version of the attempt: a decision never goes on under an older configuration. Each throws Outage.
 * A class, because every request has one.
 */
export class CurrentStatements {
  readonly #statements: BatchedStatements;
  readonly #state: BoxState;
  readonly #version: number;
  #isConfirmed = false;

  /** Binds statements to the present version of a state, which may change in place later. */
  constructor(statements: BatchedStatements, state: BoxState) {
    this.#statements = statements;
    this.#state = state;
    this.#version = state.version;
  }

  /** Stores a session. */
  async issue(session: NewSession): Promise<void> {
    this.#requireUnchanged();
    this.confirm((await this.#statements.issue(session)).version);
  }

  /** Stores a refresh family of a client with its first session. */
  async issueFamily(first: FirstOfFamily): Promise<void> {
    this.#requireUnchanged();
    this.confirm((await this.#statements.issueFamily(first)).version);
  }

  /** Finds the session of a token; undefined if there is none. */
  async check(key: SessionKey): Promise<FoundSession | undefined> {
    return this.#read(await this.#statements.check(key));
  }

  /** Finds a refresh family that has not ended; undefined if there is none. */
  async family(key: FamilyKey): Promise<RefreshFamily | undefined> {
    return this.#read(await this.#statements.family(key));
  }

  /** Stores the session of a refresh token's use; false if a transaction must decide (`refreshSession` of api/db). */
  async refresh(use: RefreshUse): Promise<boolean> {
    this.#requireUnchanged();
    return this.#statements.refresh(use);
  }

  /** Checks whether this request is the first to use the assertion. */
  useAssertion(use: AssertionUse): Promise<boolean> {
    return this.#statements.useAssertion(use);
  }

  /** Finds the ServiceAccount of an entry; undefined if there is no such client, or no cluster that it belongs to. */
  async serviceAccount(key: EntryKey): Promise<KnownEntry | undefined> {
    return (await this.#statements.serviceAccount(key)).found;
  }

  /** Notes that a statement of the attempt has seen a version. Throws ConfigChanged if it is another one. */
  confirm(version: number | undefined): void {
    if (version !== this.#version) throw new ConfigChanged(version);
    this.#isConfirmed = true;
  }

  /** True once a statement of the attempt has seen the version. */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /** Reads the version of the box unless a statement of the attempt has seen it. */
  async confirmOnce(): Promise<void> {
    if (!this.#isConfirmed) this.confirm((await this.#statements.version(this.#state.box)).version);
  }

  /** Makes sure that a refusal, which has changed nothing, was decided under the current configuration alone. */
  async confirmRefusal(): Promise<void> {
    this.#requireUnchanged();
    await this.confirmOnce();
  }

  #read<T>({ version, value }: Versioned<T>): T {
    this.confirm(version);
    this.#requireUnchanged();
    return value;
  }

  /** Throws unless the state still has the version of the attempt: then so had all that was read from it. */
  #requireUnchanged(): void {
    if (this.#state.version !== this.#version) throw new ConfigChanged(this.#state.version);
  }
}
