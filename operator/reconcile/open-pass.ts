import type { NamespaceClaim } from '../../api/client/desired-state.ts';
import { ManagementError } from '../../api/client/management-error.ts';
import { candidatesOf } from '../desired/candidates.ts';
import type { Desired } from '../desired/desired.ts';
import { withoutTaken } from '../desired/host-claims.ts';
import type { Listing } from '../desired/source.ts';
import { recordQuotaFault } from '../status/events.ts';
import { boxApi, type BoxApi } from './box-api.ts';
import type { BoxCache } from './box-cache.ts';
import type { BoxPass, PassRequest } from './box-pass.ts';
import { publishAgain } from './statuses.ts';

/** Reads and validates the declarations of a box. Throws what the source throws, and ManagementError. */
export async function openPass(request: PassRequest): Promise<BoxPass> {
  const { box, cache, scope, context, signal } = request;
  const began = context.now().getTime();
  const { listing, hostsFailure } = await listed(request);
  const api = boxApi({ box, isGone: listing.isGone === true }, context, signal);
  await retire(api, listing, cache);
  // New definitions change the meaning of objects and the fields of statuses.
  const isSameMeaning = cache.declared.definitions === listing.definitions;
  if (!isSameMeaning) publishAgain(cache);
  const known = isSameMeaning ? cache.declared.objects : nothingKnown;
  const candidates = candidatesOf(listing, known, context.defaultIssuer(box));
  noteClaim(listing, cache);
  cache.namespace.quotaFault = recordQuotaFault(box, candidates, {
    fault: listing.quota?.fault,
    before: cache.namespace.quotaFault,
    events: context.events,
  });
  cache.nextLook = undefined;
  const isSweep = scope === 'everything' || !cache.stored.isSynced;
  // Statuses that somebody else wrote: only in a sweep, so that two conflicting writers write rarely.
  if (isSweep) publishAgain(cache, context.source.takeForeignStatusWrites?.(box) ?? []);
  const secrets = { box, keeper: context.keeper, cache: cache.secrets, signal };
  return { ...request, began, listing, hostsFailure, candidates, known, isSweep, api, secrets };
}

const nothingKnown: ReadonlyMap<string, Desired> = new Map();

/**
 * Reads the declarations. Hosts are assigned to all boxes before anything of one box is sent; a failure of that is
 * returned, so that the statuses report it. Throws it if there is no namespace, and thus no status.
 */
async function listed({ box, context, signal }: PassRequest): Promise<Pick<BoxPass, 'listing' | 'hostsFailure'>> {
  const { source, hosts } = context;
  const listing = await source.list(box, signal);
  const hostsFailure = await failureOf(hosts?.settle(signal));
  const { tenancy } = listing;
  if (hostsFailure !== undefined && listing.isGone === true) throw hostsFailure;
  if (tenancy === undefined) return { listing, hostsFailure };
  const granted = withoutTaken(tenancy.hosts, hosts?.refused(box) ?? []);
  return { listing: { ...listing, tenancy: { ...tenancy, hosts: granted } }, hostsFailure };
}

/** Returns the failure of a call, unless somebody else leads now: then nothing is reported either. */
async function failureOf(call: Promise<void> | undefined): Promise<ManagementError | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ManagementError && error.code !== 'fenced') return error;
    throw error;
  }
}

/** Retires a box without a namespace before anything else: it serves nothing, even if rows cannot be removed yet. */
async function retire(api: BoxApi, listing: Listing, { namespace }: BoxCache): Promise<void> {
  const isGone = listing.isGone === true;
  if (isGone && !namespace.isRetired) await api.apply(false, []);
  namespace.isRetired = isGone;
}

/**
 * Requests a comparison of everything if the namespace, or an admin's decision on it, has changed: that comparison
 * tells the API even if no object of the box is applied, because all of them are suspended or invalid.
 */
function noteClaim({ tenancy }: Listing, { namespace, stored }: BoxCache): void {
  if (tenancy === undefined) return;
  const claim = JSON.stringify(tenancy.claim);
  if (namespace.claim !== undefined && namespace.claim !== claim) stored.markUnsynced();
  namespace.claim = claim;
}

/** Adds the namespace of the box and its quotas, which the calls from now on tell. Throws what the source throws. */
export async function inNamespace(pass: BoxPass): Promise<BoxPass> {
  const { box, listing, context, signal } = pass;
  const namespace = await currentClaim(pass);
  const quota = listing.quota?.quota;
  const api = boxApi({ box, isGone: listing.isGone === true, namespace, quota }, context, signal);
  return { ...pass, namespace, quota, api };
}

/**
 * Returns the claim of the namespace. A list may show a new object before another list shows that the namespace was
 * created again, and its box would be taken for the old one: for a new object the namespace is read again.
 */
async function currentClaim(pass: BoxPass): Promise<NamespaceClaim | undefined> {
  const { box, listing, candidates, known, context, signal } = pass;
  const { namespaceOf } = context.source;
  if (listing.tenancy === undefined || namespaceOf === undefined) return undefined;
  const isNew = candidates.some(({ object }) => known.get(object.key)?.object.uid !== object.uid);
  return isNew ? namespaceOf(box, signal) : listing.tenancy.claim;
}
