import { applyLines, type ApplyCaller } from './apply-call.ts';
import type { BoxMemory } from './box-memory.ts';
import type { BoxPass, PassRequest } from './box-pass.ts';
import { applyPlan, compareWithStored } from './apply-plan.ts';
import { candidatesOf, declaredState } from '../desired/declared-state.ts';
import { removeFinalizers, removeDeleted, type Deletions } from './deletion.ts';
import type { Desired } from '../desired/desired.ts';
import { recordQuotaFault } from '../status/quota-events.ts';
import { quotaText, retryBeyondQuota } from '../desired/quota-refusals.ts';
import { forgetLeftovers, forgetUnwanted } from '../secrets/forget.ts';
import { lookAt } from '../secrets/generated-secrets.ts';
import { withoutTaken } from '../desired/host-claims.ts';
import { publishAnew } from './publish.ts';
import { isLocked, outcomeOf, writeStatuses } from './outcome.ts';
import { planOf } from './plan.ts';
import { findLinks } from '../desired/find-links.ts';
import { followServiceAccounts } from '../desired/service-accounts.ts';
import type { Listing } from '../desired/source.ts';
import { takeUsage } from '../status/usage.ts';

/**
 * Runs one pass over a box: reads what is declared, removes what is gone, sends what differs, publishes the statuses
 * that changed. Returns whether changes or statuses are left for a next pass, so that other boxes and new changes need
 * not wait for all of them. Throws ManagementError (and whatever the source throws) on failure; the next pass then
 * checks everything.
 */
export async function reconcileBox(request: PassRequest): Promise<'done' | 'more'> {
  const opened = await openPass(request);
  // A failure is thrown below, where statuses can report it.
  const [removal] = await Promise.allSettled([removeDeleted(opened)]);
  const [pass, desired] = await Promise.all([inNamespace(opened), declaredState(opened)]);
  const outcome = await outcomeOf(pass, async () => {
    const deletions = deletionsOf(removal);
    if (pass.isSweep) await compareWithStored(pass, desired);
    return applyDesired(pass, desired, deletions);
  });
  if (outcome.result === 'applied') await followUp(pass, desired);
  return writeStatuses(pass, desired, outcome);
}

/** Reads and validates the declarations. */
async function openPass(request: PassRequest): Promise<BoxPass> {
  const { box, memory, scope, context } = request;
  const listing = await listed(request);
  await retire({ ...request, listing }, memory);
  // New definitions change the fields of statuses.
  if (memory.definitions !== listing.definitions) publishAnew(memory);
  const candidates = candidatesOf(listing, memory, context.defaultIssuer(box));
  noteClaim(listing, memory);
  const pass = { ...request, listing, candidates, isSweep: scope === 'everything' || !memory.stored.isKnown };
  recordQuotaFault(pass);
  memory.nextLook = undefined;
  // Statuses that somebody else wrote: only in a sweep, so that two conflicting writers write rarely.
  if (pass.isSweep) publishAnew(memory, context.source.takeRewritten?.(box) ?? []);
  return pass;
}

/** Reads the declarations. Hosts are assigned to all boxes before anything of one box is sent. */
async function listed({ box, context: { source, hosts }, signal }: PassRequest): Promise<Listing> {
  const listing = await source.list(box, signal);
  await hosts?.settle(signal);
  const { tenancy } = listing;
  if (tenancy === undefined) return listing;
  return { ...listing, tenancy: { ...tenancy, hosts: withoutTaken(tenancy.hosts, hosts?.refused(box) ?? []) } };
}

/** Retires a box without a namespace before anything else: it serves nothing, even if rows cannot be removed yet. */
async function retire(caller: ApplyCaller, memory: BoxMemory): Promise<void> {
  const isGone = caller.listing.isGone === true;
  if (isGone && !memory.isRetired) await applyLines(caller, false, []);
  memory.isRetired = isGone;
}

/**
 * Requests a comparison of everything if the namespace, or an admin's decision on it, has changed: that comparison
 * tells the API even if no object of the box is applied, because all of them are suspended or invalid.
 */
function noteClaim({ tenancy }: Listing, memory: BoxMemory): void {
  if (tenancy === undefined) return;
  const claim = JSON.stringify(tenancy.claim);
  if (memory.claim !== undefined && memory.claim !== claim) memory.stored.doubt();
  memory.claim = claim;
}

/**
 * Adds the quotas and the namespace of the box. A list may show a new object before another list shows that the
 * namespace was created again, and its box would be taken for the old one. For a new object the namespace is therefore
 * read again.
 */
async function inNamespace(pass: BoxPass): Promise<BoxPass> {
  const { box, listing, candidates, memory, signal } = pass;
  const { tenancy, quota: { quota } = {} } = listing;
  const { namespaceOf } = pass.context.source;
  if (tenancy === undefined || namespaceOf === undefined) return { ...pass, quota };
  const isNew = candidates.some(({ object }) => memory.objects.get(object.key)?.object.uid !== object.uid);
  return { ...pass, quota, namespace: isNew ? await namespaceOf(box, signal) : tenancy.claim };
}

/** Returns the removals made. A locked box is reported by the next call, which carries the admin's decision, if any. */
function deletionsOf(removal: PromiseSettledResult<Deletions>): Deletions {
  if (removal.status === 'fulfilled') return removal.value;
  if (isLocked(removal.reason)) return { removed: [], open: new Set() };
  throw removal.reason;
}

/** Makes the stored state match the desired one; returns the keys of the objects left for the next pass. */
async function applyDesired(
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

/** Does what follows a pass that has applied everything: none of it concerns rows. */
async function followUp(pass: BoxPass, desired: readonly Desired[]): Promise<void> {
  const { scope, listing, memory } = pass;
  if (scope === 'everything') await takeUsage(pass);
  if (scope === 'everything' && listing.complete && !isTerminating(pass)) await forgetLeftovers(pass, desired);
  memory.nextLook = nextLook(desired, memory);
}

function isTerminating({ listing }: BoxPass): boolean {
  return listing.tenancy?.isTerminating === true;
}

function nextLook(desired: readonly Desired[], { stored }: BoxMemory): number | undefined {
  let next: number | undefined;
  for (const one of desired) {
    const look = lookAt(one, stored);
    if (look !== undefined && look < (next ?? Infinity)) next = look;
  }
  return next;
}
