import type { NamespaceClaim } from '../../api/client/desired-state.ts';
import type { ManagementError } from '../../api/client/management-error.ts';
import type { Quota } from '../../crds/quota.ts';
import type { Candidate, Desired } from '../desired/desired.ts';
import type { Listing } from '../desired/source.ts';
import type { KeptSecrets } from '../secrets/keeper.ts';
import type { BoxApi } from './box-api.ts';
import type { BoxCache } from './box-cache.ts';
import type { PassContext } from './pass-context.ts';

/** Scope of a pass: changes only, or everything (at the start, periodically, after a failure). */
export type PassScope = 'changes' | 'everything';

/** Request for one pass over a box. */
export interface PassRequest {
  readonly box: string;
  readonly scope: PassScope;
  readonly cache: BoxCache;
  readonly context: PassContext;
  readonly signal: AbortSignal;
}

/** One pass over a box: the facts that its steps share. None of them changes during the pass but the cache. */
export interface BoxPass extends PassRequest {
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly listing: Listing;
  /** Reason why the hosts of all boxes are not assigned; until then nothing of this box is sent. */
  readonly hostsFailure?: ManagementError | undefined;
  /** Validated objects of the listing. */
  readonly candidates: readonly Candidate[];
  /** By object key: the desired state at the last pass; empty if the definitions have changed since. */
  readonly known: ReadonlyMap<string, Desired>;
  /** True if stored rows are compared: in a pass over everything, and when the stored rows are unknown. */
  readonly isSweep: boolean;
  /** Namespace of the box, as the API is told. Absent in the calls that only remove. */
  readonly namespace?: NamespaceClaim | undefined;
  /** Quotas that the Namespace sets. If absent, the API keeps those that it has. */
  readonly quota?: Partial<Quota> | undefined;
  readonly api: BoxApi;
  readonly secrets: KeptSecrets;
}

/** Checks whether the namespace of the box is being deleted. */
export function isTerminating({ listing }: BoxPass): boolean {
  return listing.tenancy?.isTerminating === true;
}
