import { ManagementError } from '../../api/client/management-error.ts';
import { applyLines } from './apply-call.ts';
import type { BoxMemory } from './box-memory.ts';
import { applyPlan, compareWithStored } from './apply-plan.ts';
import { candidatesOf, declaredState } from '../desired/declared-state.ts';
import { removeFinalizers, removeDeleted, type Deletions } from './deletion.ts';
import type { Candidate, Desired } from '../desired/desired.ts';
import { recordQuotaFault } from '../status/quota-events.ts';
import { quotaText, retryBeyondQuota } from '../desired/quota-refusals.ts';
import { forgetLeftovers, forgetUnwanted } from '../secrets/forget.ts';
import { lookAt } from '../secrets/generated-secrets.ts';
import { mayInherit } from '../desired/inherited-clients.ts';
import { withoutTaken } from '../desired/host-claims.ts';
import { lockedBox } from '../desired/locked-box.ts';
import type { PassContext, PassScope } from './pass-context.ts';
import { planOf } from './plan.ts';
import { findLinks } from '../desired/find-links.ts';
import { publish } from './publish.ts';
import { followServiceAccounts } from '../desired/service-accounts.ts';
import type { Listing } from '../desired/source.ts';
import { takeUsage } from '../status/usage.ts';

/**
 * Runs one pass over a box: reads what is declared, removes what is gone, sends what differs, publishes the statuses
 * that changed. Returns whether changes or statuses are left for a next pass, so that other boxes and new changes need
 * not wait for all of them. Throws ManagementError (and whatever the source throws) on failure; the next pass then
 * checks everything.
 */
export async function reconcileBox(
  box: string,
  memory: BoxMemory,
  scope: PassScope,
  options: PassContext,
  signal: AbortSignal,
): Promise<'done' | 'more'> {
  const listing = await listed(box, options, signal);
  const general = { ...options, isNamespaceGone: listing.isGone === true };
  await retire(box, memory, general, signal);
  const candidates = candidatesOf(listing, memory, general.defaultIssuer(box));
  const quota = listing.quota ?? {};
  recordQuotaFault(box, quota, candidates, memory, general.events);
  noteClaim(listing, memory);
  const isSweep = scope === 'everything' || !memory.known;
  memory.nextLook = undefined;
  if (isSweep) publishAnew(general.source.takeRewritten?.(box), memory);
  // A failure is thrown below, where statuses can report it.
  const [departed] = await Promise.allSettled([removeDeleted(box, listing, candidates, memory, general, signal)]);
  const isTerminating = listing.tenancy?.isTerminating === true;
  const inherits = mayInherit(general, listing.tenancy?.claim);
  const [context, desired] = await Promise.all([
    inNamespace(box, listing, candidates, memory, { ...general, quota: quota.quota }, signal),
    declaredState(box, { candidates, isTerminating, inherits }, scope, memory, general, signal),
  ]);
  let left: ReadonlySet<string>;
  try {
    // A locked box is reported by the next call, which carries the admin's decision, if any.
    if (departed.status === 'rejected' && !isLocked(departed.reason)) throw departed.reason;
    if (isSweep) await compareWithStored(box, desired, memory, context, signal);
    left = await enforce(
      box,
      listing,
      departed.status === 'fulfilled' ? departed.value : nothingGone,
      desired,
      memory,
      context,
      signal,
    );
    await findLinks(box, desired, memory, context, signal);
    await followServiceAccounts(box, desired, memory, context, signal);
    memory.locked = undefined;
  } catch (error) {
    memory.known = false;
    if (isLocked(error)) return publishLocked(box, error, desired, memory, context, signal);
    await publish(box, desired, 'unreachable', memory, context, signal);
    throw error;
  }
  if (scope === 'everything') await takeUsage(box, memory, context, signal);
  if (scope === 'everything' && isWhole(listing)) await forgetLeftovers(box, desired, memory, context.keeper, signal);
  memory.nextLook = nextLook(desired, memory);
  return publish(box, desired, 'pending', memory, context, signal, left);
}

/** Reads the declarations. Hosts are assigned to all boxes before anything of one box is sent. */
async function listed(box: string, { source, hosts }: PassContext, signal: AbortSignal): Promise<Listing> {
  const listing = await source.list(box, signal);
  await hosts?.settle(signal);
  const { tenancy } = listing;
  if (tenancy === undefined) return listing;
  return { ...listing, tenancy: { ...tenancy, hosts: withoutTaken(tenancy.hosts, hosts?.refused(box) ?? []) } };
}

/** Retires a box without a namespace before anything else: it serves nothing, even if rows cannot be removed yet. */
async function retire(box: string, memory: BoxMemory, context: PassContext, signal: AbortSignal): Promise<void> {
  const isGone = context.isNamespaceGone === true;
  if (isGone && !memory.isRetired) await applyLines(box, false, [], context, signal);
  memory.isRetired = isGone;
}

/**
 * Requests a comparison of everything if the namespace, or an admin's decision on it, has changed: that comparison
 * tells the API even if no object of the box is applied, because all of them are suspended or invalid.
 */
function noteClaim({ tenancy }: Listing, memory: BoxMemory): void {
  if (tenancy === undefined) return;
  const claim = JSON.stringify(tenancy.claim);
  if (memory.claim !== undefined && memory.claim !== claim) memory.known = false;
  memory.claim = claim;
}

/** Forgets statuses that somebody else wrote: only in a sweep, so that two conflicting writers write rarely. */
function publishAnew(keys: Iterable<string> = [], { published }: BoxMemory): void {
  for (const key of keys) published.delete(key);
}

function nextLook(desired: readonly Desired[], memory: BoxMemory): number | undefined {
  let next: number | undefined;
  for (const one of desired) {
    const look = lookAt(one, memory);
    if (look !== undefined && look < (next ?? Infinity)) next = look;
  }
  return next;
}

/**
 * Adds the namespace of the box. A list may show a new object before another list shows that the namespace was created
 * again, and its box would be taken for the old one. For a new object the namespace is therefore read again.
 */
async function inNamespace(
  box: string,
  { tenancy }: Listing,
  candidates: readonly Candidate[],
  { objects }: BoxMemory,
  context: PassContext,
  signal: AbortSignal,
): Promise<PassContext> {
  const { namespaceOf } = context.source;
  if (tenancy === undefined || namespaceOf === undefined) return context;
  const isNew = candidates.some(({ object }) => objects.get(object.key)?.object.uid !== object.uid);
  return { ...context, namespace: isNew ? await namespaceOf(box, signal) : tenancy.claim };
}

const nothingGone: Deletions = { removed: [], open: new Set() };

/** Makes the rows match the declarations; returns the keys of the objects left for the next pass. */
async function enforce(
  box: string,
  listing: Listing,
  deletions: Deletions,
  desired: readonly Desired[],
  memory: BoxMemory,
  context: PassContext,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { rows, refusals } = memory;
  const situation = { desired, rows, refusals, complete: listing.complete, open: deletions.open };
  if (deletions.removed.length > 0 || quotaText(context, memory) !== memory.quota) retryBeyondQuota(memory);
  let plan = planOf(situation);
  if (plan.remove.length > 0 && retryBeyondQuota(memory)) plan = planOf(situation);
  const { removed, left } = await applyPlan(box, plan, desired, memory, context, signal);
  await removeFinalizers(box, memory, context, signal);
  // The Secrets of a namespace that is being deleted are deleted with it.
  if (listing.tenancy?.isTerminating === true) return left;
  await forgetUnwanted(box, desired, [...deletions.removed, ...removed], memory, context.keeper, signal);
  return left;
}

function isWhole({ complete, tenancy }: Listing): boolean {
  return complete && tenancy?.isTerminating !== true;
}

function isLocked(error: unknown): error is ManagementError {
  return error instanceof ManagementError && error.code === 'locked';
}

/** Publishes a locked box. Only an admin's decision helps, which is seen immediately: there is no reason to retry. */
async function publishLocked(
  box: string,
  { bound }: ManagementError,
  desired: readonly Desired[],
  memory: BoxMemory,
  context: PassContext,
  signal: AbortSignal,
): Promise<'done' | 'more'> {
  memory.locked = lockedBox(box, bound, context.namespace, memory.locked);
  // None of them has a row: the existing rows belong to the earlier namespace.
  const going = context.source.finalizers?.terminating(box) ?? [];
  if (going.length > 0) await context.source.finalizers?.remove(box, going, signal);
  return publish(box, desired, 'pending', memory, context, signal);
}
