import type { KeyObject } from 'node:crypto';
import type { ApplyProgress } from '../../api/client/desired-state.ts';
import type { ManagementError } from '../../api/client/management-error.ts';
import type { Management } from '../../api/client/management.ts';
import type { EventRecorder } from '../status/events.ts';
import type { HostKeeper } from '../desired/host-keeper.ts';
import type { SecretKeeper } from '../secrets/keeper.ts';
import type { Source } from '../desired/source.ts';

/** Dependencies of every reconcile pass; the same for all boxes. */
export interface PassContext {
  readonly source: Source;
  readonly keeper: SecretKeeper;
  readonly management: Management;
  readonly events: EventRecorder;
  /** Id of this installation: rows of others are not ours. */
  readonly cluster: string;
  /** Older installation whose rows and boxes this one takes over (a cluster that is rebuilt over its database). */
  readonly adopts?: string | undefined;
  /** Returns the epoch of the calls. Throws ManagementError if none could be claimed yet. */
  readonly epoch: (signal: AbortSignal) => Promise<number>;
  /** Assigns hosts before any pass; absent if nobody grants them. */
  readonly hosts?: HostKeeper | undefined;
  /** Key of the digests that are stored with the rows. */
  readonly digestKey: KeyObject;
  /** Returns the issuer of a box that declares none. */
  readonly defaultIssuer: (box: string) => string;
  /** Returns the token URL of a box for the pods of its cluster; absent if there is no cluster. */
  readonly inClusterTokenUrl?: (box: string) => string;
  /** Checks whether the API knows the issuer and keys of ServiceAccount tokens; a folder has none. */
  readonly servesServiceAccounts: () => boolean;
  readonly now: () => Date;
  /** Returns why the API cannot serve at present; undefined if it can. */
  readonly apiFault: () => string | undefined;
  /** Checks whether lists lack so many objects in all boxes together that they must be wrong. */
  readonly isMuchMissing: () => boolean;
  readonly random: () => number;
  /** Milliseconds between two reads of a box's usage; undefined: it is never read. */
  readonly usagePeriod?: number;
  /** Called when the usage of a box could not be read; `isNew`: for the first time in a period. */
  readonly onUsageFailure?: (box: string, error: ManagementError, isNew: boolean) => void;
  readonly onProgress: (box: string, progress: ApplyProgress['progress']) => void;
}
