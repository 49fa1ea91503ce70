import type { RowName } from '../api/client/desired-state.ts';
import type { Fault } from '../crds/fault.ts';
import type { Identity } from './declared.ts';
import type { Desired } from './desired.ts';
import type { Facts, Refusal } from './facts.ts';
import type { InstalledKinds } from './installed-fields.ts';
import type { KeptName } from './secret-keeper.ts';
import type { AccountState } from './account-state.ts';
import type { Flip } from './status.ts';
import type { UsageMemory } from './usage.ts';

/** A row of this cluster that the database has. */
export interface KnownRow extends RowName {
  /** The object itself where it is known. */
  readonly declarer: Identity;
  /** Undefined when only the row's existence is known. */
  readonly digest: string | undefined;
  /** It goes on without an owner when its object goes. */
  readonly retain: boolean;
  /** What of the stored resource has no effect: the rule of a policy, which grants nothing, or the `jwks_uri` of a client. */
  readonly faults: readonly Fault[];
}

/** The facts of the status that was published last, and when its conditions flipped. */
export interface Published extends Facts {
  readonly flips: readonly Flip[];
}

/** What is remembered of a box between two passes, so that one change among thousands costs one. */
export interface BoxMemory {
  /** By object key: what was desired at the last pass. */
  objects: ReadonlyMap<string, Desired>;
  /** By its name: a Secret that was generated, and for which Client. */
  readonly generated: Map<string, KeptName & { readonly client: string }>;
  /** The definitions by which the objects were judged. */
  definitions: InstalledKinds | undefined;
  /** When a pass is due without any change, in milliseconds since 1970. */
  nextLook: number | undefined;
  /** The issuer that generated secrets name. */
  issuer: string;
  /** Names of generated secrets that nobody wanted at the last sweep. */
  leftovers: ReadonlySet<string>;
  /** By object key. */
  readonly published: Map<string, Published>;
  /** By row key: what this cluster has in the database. */
  rows: Map<string, KnownRow>;
  /** By object key. */
  readonly refusals: Map<string, Refusal>;
  /** The quotas that the API was told last, as JSON. */
  quota: string;
  /** Why the quotas of the Namespace cannot be read, as an event has told. */
  quotaFault: string | undefined;
  /** The namespace of the last pass, as text; undefined: there was none. */
  claim: string | undefined;
  /** The API was told that the namespace of the box is not there. */
  isRetired: boolean;
  /** Why nothing of the box is applied: it belongs to another namespace. */
  locked: Refusal | undefined;
  /** By row key: whether what a policy links, and nobody here declares, is there. */
  readonly elsewhere: Map<string, boolean>;
  /** By object key: the pinned ServiceAccounts of clients. */
  accounts: ReadonlyMap<string, readonly AccountState[]>;
  usage: UsageMemory | undefined;
  /** Whether `rows` is what the database has, as far as anybody can know. */
  known: boolean;
  /** How many rows there are whose objects no list has, and which the last pass did not find to be gone. */
  missing: number;
  /** Rows of objects that are gone are still there: removing them is the first thing to do. */
  owesRemovals: boolean;
}

/** The memory of a box of which nothing is known. */
export function emptyMemory(): BoxMemory {
  return {
    objects: new Map(),
    definitions: undefined,
    generated: new Map(),
    nextLook: undefined,
    issuer: '',
    leftovers: new Set(),
    published: new Map(),
    rows: new Map(),
    refusals: new Map(),
    quota: '{}',
    quotaFault: undefined,
    claim: undefined,
    isRetired: false,
    locked: undefined,
    elsewhere: new Map(),
    accounts: new Map(),
    usage: undefined,
    known: false,
    missing: 0,
    owesRemovals: false,
  };
}
