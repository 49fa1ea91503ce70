import type { Desired } from '../desired/desired.ts';
import type { StatusInput, Refusal } from '../status/status-input.ts';
import type { InstalledKinds } from '../installed-fields.ts';
import type { KeptName } from '../secrets/keeper.ts';
import type { AccountState } from '../desired/account-state.ts';
import type { Transition } from '../status/status.ts';
import type { UsageMemory } from '../status/usage.ts';
import { StoredState } from './stored-state.ts';

/** Input of the last published status, and the times at which its conditions changed. */
export interface Published extends StatusInput {
  readonly transitions: readonly Transition[];
}

/** Declarations at the last pass; written by `desired/declared-state.ts`. */
interface DeclaredMemory {
  /** By object key: the desired state at the last pass. */
  objects: ReadonlyMap<string, Desired>;
  /** Definitions that the objects were validated with. */
  definitions: InstalledKinds | undefined;
  /** Issuer that generated secrets name. */
  issuer: string;
}

/** Generated secrets; written by `secrets/generated-secrets.ts` and `secrets/forget.ts`. */
interface SecretMemory {
  /** By name of the Secret: a generated secret, and its Client. */
  readonly generated: Map<string, KeptName & { readonly client: string }>;
  /** Names of generated secrets that no Client wanted at the last sweep. */
  leftovers: ReadonlySet<string>;
}

/** Removals that are left; written by `deletion.ts` and `confirm-removals.ts`. */
interface RemovalMemory {
  /** Number of rows whose objects are in no list, and which the last pass could not confirm as gone. */
  missing: number;
  /** True if rows of deleted objects remain: the next pass removes them first. */
  owesRemovals: boolean;
}

/** Namespace of the box, and time of its next pass; written by `pass.ts`. */
interface ScheduleMemory {
  /** Claim of the last pass's namespace, as JSON; undefined if there was none. */
  claim: string | undefined;
  /** True once the API knows that the namespace of the box does not exist. */
  isRetired: boolean;
  /** Time of the next pass that is due without any change, in milliseconds since 1970. */
  nextLook: number | undefined;
}

/** State of a box that is kept between two passes, so that one change among thousands of objects costs only one. */
export interface BoxMemory extends DeclaredMemory, SecretMemory, RemovalMemory, ScheduleMemory {
  readonly stored: StoredState;
  /** By object key; written by `publish.ts`. */
  readonly published: Map<string, Published>;
  /** Refusal of the whole box, because it belongs to another namespace; written by `outcome.ts`. */
  locked: Refusal | undefined;
  /** By object key: the pinned ServiceAccounts of clients; written by `desired/service-accounts.ts`. */
  accounts: ReadonlyMap<string, readonly AccountState[]>;
  /** Written by `status/usage.ts`. */
  usage: UsageMemory | undefined;
  /** Last event about quotas of the Namespace that cannot be read; written by `status/quota-events.ts`. */
  quotaFault: string | undefined;
}

/** Returns the memory of a box of which nothing is known. */
export function emptyMemory(): BoxMemory {
  return {
    objects: new Map(),
    definitions: undefined,
    generated: new Map(),
    nextLook: undefined,
    issuer: '',
    leftovers: new Set(),
    published: new Map(),
    stored: new StoredState(),
    quotaFault: undefined,
    claim: undefined,
    isRetired: false,
    locked: undefined,
    accounts: new Map(),
    usage: undefined,
    missing: 0,
    owesRemovals: false,
  };
}
