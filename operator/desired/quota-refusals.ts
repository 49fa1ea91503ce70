import type { StoredState } from '../reconcile/stored-state.ts';
import type { Quota } from '../../crds/quota.ts';

/** Objects beyond a quota that a sweep retries, the oldest first: rows may have been deleted over REST. */
const retriedInSweep = 1_000;

/** Forgets refusals, so that the objects are tried again; of those beyond a quota, a part. */
export function retryRefusals(stored: StoredState): void {
  let beyond = 0;
  for (const [key, { result }] of stored.refusals) {
    if (result === 'quota') beyond += 1;
    if (result !== 'quota' || beyond <= retriedInSweep) stored.deleteRefusal(key);
  }
}

/** Forgets refusals beyond a quota, because there may be room now; returns whether there were any. */
export function retryBeyondQuota(stored: StoredState): boolean {
  const before = stored.refusals.size;
  for (const [key, { result }] of stored.refusals) if (result === 'quota') stored.deleteRefusal(key);
  return stored.refusals.size < before;
}

/** Returns the quotas that the API should have, as JSON; those that it has if the Namespace's cannot be read. */
export function quotaText(quota: Partial<Quota> | undefined, stored: StoredState): string {
  return quota === undefined ? stored.quota : JSON.stringify(quota, Object.keys(quota).sort());
}
