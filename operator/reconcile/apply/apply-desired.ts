import type { Desired } from '../../desired/desired.ts';
import { findLinks } from '../../desired/find-links.ts';
import { quotaText, retryBeyondQuota } from '../../desired/quota-refusals.ts';
import { followServiceAccounts } from '../../desired/service-accounts.ts';
import { forgetUnwanted } from '../../secrets/forget.ts';
import { isTerminating, type BoxPass } from '../box-pass.ts';
import { applyPlan } from './apply-plan.ts';
import { removeFinalizers, type Deletions } from './deletion.ts';
import { planOf } from './plan.ts';

/** Makes the stored state match the desired one; returns the keys of the objects left for the next pass. */
export async function applyDesired(
  pass: BoxPass,
  desired: readonly Desired[],
  deletions: Deletions,
): Promise<ReadonlySet<string>> {
  const { listing, memory } = pass;
  const { stored } = memory;
  const { rows, refusals } = stored;
  const situation = { desired, rows, refusals, complete: listing.complete, open: deletions.open };
  if (deletions.removed.length > 0 || quotaText(pass) !== stored.quota) retryBeyondQuota(stored);
  let plan = planOf(situation);
  if (plan.remove.length > 0 && retryBeyondQuota(stored)) plan = planOf(situation);
  const { removed, left } = await applyPlan(pass, plan, desired);
  await removeFinalizers(pass);
  // The Secrets of a namespace that is being deleted are deleted with it.
  if (!isTerminating(pass)) await forgetUnwanted(pass, desired, [...deletions.removed, ...removed]);
  await findLinks(pass, desired);
  await followServiceAccounts(pass, desired);
  return left;
}
