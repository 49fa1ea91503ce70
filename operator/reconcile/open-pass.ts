import { candidatesOf } from '../desired/declared-state.ts';
import { withoutTaken } from '../desired/host-claims.ts';
import type { Listing } from '../desired/source.ts';
import { recordQuotaFault } from '../status/quota-events.ts';
import { applyLines, type ApplyCaller } from './apply/apply-call.ts';
import type { BoxMemory } from './box-memory.ts';
import type { BoxPass, PassRequest } from './box-pass.ts';
import { publishAnew } from './publish.ts';

/** Reads and validates the declarations of a box. Throws what the source throws, and ManagementError. */
export async function openPass(request: PassRequest): Promise<BoxPass> {
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
 * read again. Throws what the source throws.
 */
export async function inNamespace(pass: BoxPass): Promise<BoxPass> {
  const { box, listing, candidates, memory, signal } = pass;
  const { tenancy, quota: { quota } = {} } = listing;
  const { namespaceOf } = pass.context.source;
  if (tenancy === undefined || namespaceOf === undefined) return { ...pass, quota };
  const isNew = candidates.some(({ object }) => memory.objects.get(object.key)?.object.uid !== object.uid);
  return { ...pass, quota, namespace: isNew ? await namespaceOf(box, signal) : tenancy.claim };
}
