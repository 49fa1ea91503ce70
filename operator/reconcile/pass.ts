import { ManagementError } from '../../api/client/management-error.ts';
import type { Desired } from '../desired/desired.ts';
import { linkKey, linksToAsk } from '../desired/desired.ts';
import type { Link } from '../../crds/links.ts';
import type { StoredState } from './box-cache.ts';
import { followServiceAccounts } from '../desired/service-accounts.ts';
import { forgetLeftovers, forgetUnwanted } from '../secrets/forget.ts';
import { nextLook } from '../secrets/generated-secrets.ts';
import { takeUsage } from '../status/box-results.ts';
import { applyPlan, compareWithStored } from './apply.ts';
import { deletionsOf, removeDeleted } from './deletion.ts';
import type { Removal } from './plan.ts';
import { isTerminating, type BoxPass, type PassRequest } from './box-pass.ts';
import { desiredState, inNamespace, openPass } from './open-pass.ts';
import { REFUSAL_RETRY } from '../desired/source.ts';
import { outcomeOf, writeStatuses, type Remainder } from './statuses.ts';

/**
 * Runs one pass over a box: reads what is declared, removes what is gone, sends what differs, publishes the statuses
 * that changed. It makes one call and writes so many statuses; a next pass does the rest, so that boxes take turns.
 * Throws ManagementError (and whatever the source throws) on failure; the next pass then checks everything.
 */
export async function reconcileBox(request: PassRequest): Promise<Remainder> {
  const opened = await openPass(request);
  // A failure is thrown below, where it becomes the statuses.
  const [removal] = await Promise.allSettled([removeDeleted(opened)]);
  const [pass, desired] = await Promise.all([inNamespace(opened), desiredState(opened), keepService(opened)]);
  const outcome = await outcomeOf(async () => {
    const deletions = deletionsOf(removal);
    const fault = pass.listing.database?.fault;
    if (fault !== undefined) throw new ManagementError('unknown-database', fault);
    if (pass.isSweep) await compareWithStored(pass, desired);
    const { removed, left } = await applyPlan(pass, desired, deletions);
    await forgetUnusedSecrets(pass, desired, [...deletions.removed, ...removed]);
    if (left.size === 0) await findStatusFacts(pass, desired);
    return left.size > 0;
  });
  const remainder = await writeStatuses(pass, desired, outcome);
  lookAgainAtRefused(pass);
  return remainder;
}

/** Requests a pass that tries refused finalizers again: nobody notifies of another admission rule. */
function lookAgainAtRefused({ box, cache, context: { source, now } }: BoxPass): void {
  if ((source.finalizers?.refusals(box).size ?? 0) === 0) return;
  cache.nextLook = Math.min(cache.nextLook ?? Infinity, now().getTime() + REFUSAL_RETRY);
}

/** Deletes generated secrets that no Client uses any more: those of this pass, in a sweep also older ones. */
async function forgetUnusedSecrets(
  pass: BoxPass,
  desired: readonly Desired[],
  removed: readonly Removal[],
): Promise<void> {
  const { scope, listing, secrets, cache } = pass;
  // The Secrets of a namespace that is being deleted are deleted with it.
  if (isTerminating(pass)) return;
  await forgetUnwanted(secrets, desired, removed);
  if (scope === 'everything' && listing.complete) await forgetLeftovers(secrets, desired, cache.stored.rows);
}

/** Finds the facts that statuses tell and no row holds: linked resources, ServiceAccounts, usage, the next pass. */
async function findStatusFacts(pass: BoxPass, desired: readonly Desired[]): Promise<void> {
  const { box, scope, cache, api, context, signal } = pass;
  const { serviceAccounts } = context.source;
  await findLinks(desired, cache.stored, (links) => api.missingLinks(links));
  cache.accounts = await followServiceAccounts(desired, cache.accounts, { box, api, serviceAccounts, signal });
  if (scope === 'everything') await takeUsage(pass);
  cache.nextLook = nextLook(desired, cache.stored.rows);
}

/**
 * Keeps the Service of a box in which anything is declared: once, and then in each pass over everything. The Service
 * stays when nothing is declared any more, because retained clients may still use its name.
 */
async function keepService(pass: BoxPass): Promise<void> {
  const { box, scope, listing, cache, context, signal } = pass;
  const { keepService: keep } = context.source;
  if (keep === undefined || listing.objects.length === 0 || isTerminating(pass)) return;
  if (scope === 'changes' && cache.service !== undefined) return;
  cache.service = (await keep(box, signal)) ?? cache.service;
}

/**
 * Asks the API for linked resources that nobody declares: clients created over REST, users, groups. The answers are
 * remembered until the next sweep. Throws what `missingLinks` throws.
 */
async function findLinks(
  desired: readonly Desired[],
  stored: StoredState,
  missingLinks: (links: readonly Link[]) => Promise<readonly Link[]>,
): Promise<void> {
  const links = linksToAsk(desired, (key) => stored.rows.has(key), stored.undeclaredLinks);
  if (links.length === 0) return;
  const missing = new Set((await missingLinks(links)).map(linkKey));
  for (const link of links) stored.undeclaredLinks.set(linkKey(link), !missing.has(linkKey(link)));
}
