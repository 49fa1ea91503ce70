import type { NamespaceClaim } from '../../api/client/desired-state.ts';
import { ManagementError } from '../../api/client/management-error.ts';
import { candidatesOf, issuerOf } from '../desired/candidates.ts';
import { withoutTaken } from '../desired/hosts.ts';
import type { Listing, SecretNeeds } from '../desired/source.ts';
import { recordQuotaFault, recordInlineSecrets } from '../status/status.ts';
import { boxApi, type BoxApi, isTerminating, type BoxPass } from './box-pass.ts';
import { doubtRows, type BoxCache } from './box-cache.ts';
import type { PassRequest } from './box-pass.ts';
import { publishAgain } from './statuses.ts';
import { contests, desiredOf, type Candidate, type Desired } from '../desired/desired.ts';
import { mayInherit, generatedSecrets } from '../secrets/generated-secrets.ts';
import type { SecretCache } from '../secrets/keeper.ts';
import { resolveSecret, type ResolvedSecret, type SecretFinder } from '../secrets/resolve.ts';

/** Reads and validates the declarations of a box. Throws what the source throws, and ManagementError. */
export async function openPass(request: PassRequest): Promise<BoxPass> {
  const { box, cache, scope, context, signal } = request;
  const began = context.now().getTime();
  const { listing, hostsFailure } = await listed(request);
  const api = boxApi({ box, stored: cache.stored, isGone: listing.isGone === true }, context, signal);
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
  cache.namespace.database = listing.database?.name;
  cache.nextLook = undefined;
  const isSweep = scope === 'everything' || cache.stored.certainty !== 'matched';
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
  if (namespace.claim !== undefined && namespace.claim !== claim) doubtRows(stored);
  namespace.claim = claim;
}

/** Adds what calls tell from now on: the namespace, its quotas and its database. Throws what the source throws. */
export async function inNamespace(pass: BoxPass): Promise<BoxPass> {
  const { box, listing, cache, context, signal } = pass;
  const namespace = await currentClaim(pass);
  const [quota, database] = [listing.quota?.quota, listing.database?.name];
  const head = { box, stored: cache.stored, isGone: listing.isGone === true, namespace, quota, database };
  const api = boxApi(head, context, signal);
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

/** Returns the desired state of a box, with its secrets. Facts about an unchanged object are taken from the cache. */
export async function desiredState(pass: BoxPass): Promise<readonly Desired[]> {
  const { box, listing, candidates, known, cache, context } = pass;
  const losers = contests(candidates, cache.stored.rows);
  const issuer = issuerOf(candidates) ?? context.defaultIssuer(box);
  const { find, generated } = await secretsOf(pass, losers, issuer);
  recordInlineSecrets(box, candidates, known, context.events);
  const desired = candidates.map(({ object, validated }) => {
    const secret = resolveSecret(validated.secret, object.name, find, generated);
    const undigested = { object, validated, secret, loses: losers.get(object.key) };
    return desiredOf(undigested, known.get(object.key), context.digestKey);
  });
  const objects = new Map(desired.map((one) => [one.object.key, one]));
  cache.declared = { objects, definitions: listing.definitions, issuer };
  return desired;
}

/** Secrets that objects refer to, and generated ones by the name of their Client. */
interface FoundSecrets {
  readonly find: SecretFinder;
  readonly generated: ReadonlyMap<string, ResolvedSecret>;
}

async function secretsOf(pass: BoxPass, losers: ReadonlyMap<string, string>, issuer: string): Promise<FoundSecrets> {
  const { box, scope, listing, candidates, known, cache, context, signal } = pass;
  const { source } = context;
  const { find, isTaken } = await source.boxSecrets(box, needsOf(candidates, cache.secrets), signal);
  const generated = await generatedSecrets(pass.secrets, {
    wanting: candidates.filter((one) => wantsGenerated(one) && !losers.has(one.object.key)),
    lookAtAll: scope === 'everything' || cache.declared.issuer !== issuer,
    issuer,
    inClusterTokenUrl: context.inClusterTokenUrl?.(box),
    isTaken,
    known,
    rows: cache.stored.rows,
    isTerminating: isTerminating(pass),
    mayInherit: mayInherit(context.adopts, listing.tenancy?.claim),
    lastUses: () => pass.api.lastUses(),
    hadGeneratedSecret: (client, secret) => source.hadGeneratedSecret?.(client, secret) === true,
    now: context.now().getTime(),
  });
  return { find, generated };
}

function needsOf(candidates: readonly Candidate[], secrets: SecretCache): SecretNeeds {
  const referred = new Set<string>();
  let generated = secrets.generated.size > 0;
  for (const { validated } of candidates) {
    if (validated.secret.from === 'reference') referred.add(validated.secret.name);
    else if (validated.secret.from === 'generated') generated = true;
  }
  return { referred, generated };
}

function wantsGenerated({ validated }: Candidate): boolean {
  return validated.secret.from === 'generated' && !validated.suspended;
}
