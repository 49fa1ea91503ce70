import type { KeyObject } from 'node:crypto';
import type { ApplyProgress, NamespaceClaim } from '../api/client/desired-state.ts';
import type { Management } from '../api/client/management.ts';
import type { Quota } from '../crds/quota.ts';
import type { EventRecorder } from './events.ts';
import type { HostKeeper } from './host-keeper.ts';
import type { SecretKeeper } from './secret-keeper.ts';
import type { Source } from './source.ts';

/** Dependencies of one reconcile pass. */
export interface PassContext {
  readonly source: Source;
  readonly keeper: SecretKeeper;
  readonly management: Management;
  readonly events: EventRecorder;
  /** Id of this installation: rows of others are not ours. */
  readonly cluster: string;
  /** The older installation whose rows and boxes become this one's (a cluster that is rebuilt over its database). */
  readonly adopts?: string | undefined;
  /** The epoch that calls are made under. Throws ManagementError where none could be claimed yet. */
  readonly epoch: (signal: AbortSignal) => Promise<number>;
  /** Assigns hosts before any pass; absent where nobody grants them. */
  readonly hosts?: HostKeeper | undefined;
  /** The namespace that the box of this pass is; set by the pass. */
  readonly namespace?: NamespaceClaim | undefined;
  /** True: the namespace is not there; set by the pass. */
  readonly isNamespaceGone?: boolean;
  /** The quotas that the Namespace sets; absent: those that the API has remain. Set by the pass. */
  readonly quota?: Partial<Quota> | undefined;
  /** Key of the digests that are stored with the rows. */
  readonly digestKey: KeyObject;
  /** The issuer of a box that declares none. */
  readonly defaultIssuer: (box: string) => string;
  /** Whether the API has been told who makes the tokens of ServiceAccounts; a folder has none. */
  readonly servesServiceAccounts: () => boolean;
  readonly now: () => Date;
  /** True while the API does not answer. */
  readonly isApiAway?: () => boolean;
  /** Whether other boxes wait for their pass. */
  readonly isCrowded?: () => boolean;
  /** Whether lists lack so much in all boxes together that they are wrong. */
  readonly isMuchMissing?: () => boolean;
  readonly random: () => number;
  /** Milliseconds between two questions how much a box is used; undefined: nobody wants to know. */
  readonly usagePeriod?: number;
  readonly onProgress: (box: string, progress: ApplyProgress['progress']) => void;
}

/** How much a pass looks at: what changed, or everything there is (at the start, on a period, after a failure). */
export type PassScope = 'changes' | 'everything';
