import type { ClientUsage } from '../../api/client/desired-state.ts';
import { accountName, type AccountState } from '../desired/declared.ts';
import type { PassContext } from '../reconcile/box-pass.ts';
import { destinationOf, type BoxCache, type UsageCache, type StoredState } from '../reconcile/box-cache.ts';
import { isOfDatabase, type Failure, type ReconcileResult, type RowState } from './reconcile-result.ts';
import type { Desired } from '../desired/desired.ts';
import { danglingLinks, linksOf } from '../desired/desired.ts';
import { ManagementError } from '../../api/client/management-error.ts';

/** Part of a pass that the results come from. */
export interface ResultSource {
  readonly box: string;
  readonly cache: BoxCache;
  readonly context: Pick<PassContext, 'servesServiceAccounts' | 'apiFault' | 'inClusterTokenUrl'> & {
    readonly source: Pick<PassContext['source'], 'finalizers'>;
  };
}

/**
 * Returns the results that the statuses of a box are computed from. `open` is the state of a row that is not yet as
 * declared: `pending`, or the cause when a pass failed.
 */
export function resultsOfBox(
  { box, cache, context }: ResultSource,
  desired: readonly Desired[],
  open: 'pending' | Failure,
): readonly ReconcileResult[] {
  const { stored, declared, namespace } = cache;
  const servesServiceAccounts = context.servesServiceAccounts();
  const apiFault = context.apiFault();
  const states = desired.map((one) => rowState(one, cache, open));
  const policies = desired.filter((one, index) => states[index] === 'applied' && isUsablePolicy(one, stored));
  const concerned = policyCounts(policies);
  const clients = desired.filter(({ object }) => object.kind === 'Client').length;
  const usage = cache.usage?.known;
  const refused = context.source.finalizers?.refusals(box);
  const inClusterTokenUrl = context.inClusterTokenUrl?.(box) ?? '';
  const tellsService = serviceTellers(desired, cache);
  const isThere = (key: string): boolean => stored.rows.has(key) || stored.undeclaredLinks.get(key) === true;
  return desired.map((one, index) => ({
    desired: one,
    row: states[index] ?? open,
    refusal: refused?.get(one.object.uid),
    unusable: stored.rows.get(one.validated.rowKey)?.faults ?? none,
    policies: policiesOf(one, concerned, policies.length),
    clients: one.object.kind === 'Box' ? clients : 0,
    dangling: one.object.kind === 'AccessPolicy' ? danglingLinks(one.validated, isThere) : none,
    issuer: hasAddress(one) ? declared.issuer : '',
    inClusterTokenUrl: hasAddress(one) ? inClusterTokenUrl : '',
    service: tellsService(one) ? cache.service : undefined,
    quotaFault: one.object.kind === 'Box' ? namespace.quotaFault : undefined,
    database: one.object.kind === 'Box' ? stored.database : undefined,
    destination: one.object.kind === 'Box' && !isOfDatabase(open) ? destinationOf(cache) : undefined,
    apiFault: one.object.kind === 'Box' ? apiFault : undefined,
    usage: one.object.kind === 'Client' ? usageOf(one, usage?.clients.get(one.validated.id)) : undefined,
    users: one.object.kind === 'Box' ? usage?.users : undefined,
    lastUsed: one.object.kind === 'AccessPolicy' ? usage?.policies.get(one.validated.id) : undefined,
    members: one.object.kind === 'Group' ? usage?.groups.get(one.validated.id) : undefined,
    servesServiceAccounts: one.validated.serviceAccounts !== 'none' && servesServiceAccounts,
    accounts: accountsOf(one, cache),
  }));
}

const none: readonly never[] = [];

/** Checks whether the status of an object shows the addresses of its box. */
function hasAddress({ object }: Desired): boolean {
  return object.kind === 'Box' || object.kind === 'Client';
}

/** Returns which objects tell the state of the Service: the Box, or every Client if there is none to tell a problem. */
function serviceTellers(desired: readonly Desired[], { service }: BoxCache): (one: Desired) => boolean {
  if (desired.some(({ object }) => object.kind === 'Box')) return ({ object }) => object.kind === 'Box';
  return ({ object }) => object.kind === 'Client' && service?.state === 'missing';
}

function policiesOf({ object, validated }: Desired, concerned: PolicyCounts, all: number): number {
  if (object.kind === 'Client') return concerned.of(validated.id);
  return object.kind === 'Box' ? all : 0;
}

/** Returns the remembered states unless the spec has changed since: a failed pass has not compared its entries. */
function accountsOf({ object, validated }: Desired, { accounts }: BoxCache): readonly AccountState[] {
  const states = accounts.get(object.key) ?? none;
  const isOfEntry = ({ index, uid, ...account }: AccountState): boolean => {
    const entry = validated.accounts[index];
    return entry !== undefined && accountName(entry) === accountName(account) && (entry.uid ?? uid) === uid;
  };
  return states.every(isOfEntry) ? states : none;
}

function rowState(one: Desired, { locked, stored }: BoxCache, open: 'pending' | Failure): RowState {
  if (locked !== undefined) return locked;
  // The Box speaks for its Namespace, also while its settings are in force. Nothing of a box that lacks data is.
  if (isOfDatabase(open) && (one.object.kind === 'Box' || open.result === 'data-missing')) return open;
  const row = stored.rows.get(one.validated.rowKey);
  if (row?.declarer.uid === one.object.uid && row.digest === one.digest) return 'applied';
  const refusal = stored.refusals.get(one.object.key);
  return refusal?.digest === one.digest ? refusal : open;
}

function isUsablePolicy(one: Desired, { rows }: StoredState): boolean {
  return one.object.kind === 'AccessPolicy' && rows.get(one.validated.rowKey)?.faults.length === 0;
}

interface PolicyCounts {
  readonly of: (client: string) => number;
}

/** Counts the policies that concern each client: those that link it, and those for everybody. */
function policyCounts(policies: readonly Desired[]): PolicyCounts {
  const linked = new Map<string, number>();
  let forAll = 0;
  for (const { validated } of policies) {
    if (validated.traits.kind === 'AccessPolicy' && validated.traits.subjects !== 'linked') forAll += 1;
    else for (const id of linkedClients(validated)) linked.set(id, (linked.get(id) ?? 0) + 1);
  }
  return { of: (client) => forAll + (linked.get(client) ?? 0) };
}

function linkedClients(validated: Desired['validated']): ReadonlySet<string> {
  return new Set(linksOf(validated).flatMap(({ resourceType, id }) => (resourceType === 'Client' ? [id] : [])));
}

/** Adds the last use of the previous secret: while two are valid, it is read more often than the other usage. */
function usageOf({ secret }: Desired, usage: ClientUsage | undefined): ClientUsage | undefined {
  if (usage === undefined || secret.state !== 'ready' || secret.previousLastUsed === undefined) return usage;
  return { ...usage, previous_secret_last_used: new Date(secret.previousLastUsed).toISOString() };
}

/** Part of a pass that reading the usage needs. */
interface UsageReader {
  readonly box: string;
  readonly cache: { usage: UsageCache | undefined };
  readonly context: Pick<PassContext, 'management' | 'cluster' | 'now' | 'random' | 'usagePeriod' | 'onUsageFailure'>;
  readonly signal: AbortSignal;
}

/**
 * Reads the usage of a box, once in a period: a client's status is written at most that often for this alone. A large
 * box is read a portion at each sweep. The first read of a process waits for a random part of the period, so that a
 * restart alone writes no status. An API that does not answer is asked again at the next sweep: the failure is told of,
 * and nothing else waits for it.
 */
export async function takeUsage({ box, cache, context, signal }: UsageReader): Promise<void> {
  const { management, cluster, now, random, usagePeriod, onUsageFailure } = context;
  if (usagePeriod === undefined) return;
  const time = now().getTime();
  cache.usage ??= { known: undefined, due: time + usagePeriod * random(), round: undefined };
  const { usage } = cache;
  if (time < usage.due) return;
  const { told, after } = usage.round ?? { told: new Map<string, ClientUsage>(), after: '' };
  try {
    const { clients, users, groups, policies, next } = await management.usage(box, cluster, after, signal);
    for (const client of clients) told.set(client.id, client);
    const isWhole = next === undefined;
    const before = after === '' ? undefined : usage.known;
    usage.known = {
      clients: isWhole ? told : new Map([...(usage.known?.clients ?? []), ...told]),
      users,
      // Only the first portion has them.
      groups: before?.groups ?? new Map(groups.map(({ name, members }) => [name, members])),
      policies: before?.policies ?? new Map(policies.map(({ id, last_used_at }) => [id, last_used_at])),
    };
    usage.round = isWhole ? undefined : { told, after: next };
    if (isWhole) usage.due = time + usagePeriod;
  } catch (error) {
    if (!(error instanceof ManagementError)) throw error;
    onUsageFailure?.(box, error);
  }
}
