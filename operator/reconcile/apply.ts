import type { Adoption, ApplyLine, ApplyResult, DeclareLine } from '../../api/client/desired-state.ts';
import type { Fault } from '../../crds/fault.ts';
import { withoutDenied } from '../desired/candidates.ts';
import { destinationOf, replaceRows, type KnownRow, type StoredState } from './box-cache.ts';
import { declarerOf, ownerOf } from '../desired/declared.ts';
import { intentOf, rowKey, rowOf, type Desired } from '../desired/desired.ts';
import { releaseRetained } from '../secrets/forget.ts';
import { declaredResource } from '../desired/validate.ts';
import type { BoxPass } from './box-pass.ts';
import { confirmedRemovals, removeFinalizers, type Deletions } from './deletion.ts';
import { nextCall, planOf, removalLine, type Plan, type Removal } from './plan.ts';
import type { Resource } from '../../crds/validate.ts';
import type { Quota } from '../../crds/quota.ts';

/** Compares every digest with the database and remembers its rows. Changes nothing there. */
export async function compareWithStored(pass: BoxPass, desired: readonly Desired[]): Promise<void> {
  const { cache, api, quota } = pass;
  const { stored } = cache;
  retryRefusals(stored);
  stored.undeclaredLinks.clear();
  // No call is needed if the database has just shown that this cluster declares nothing.
  if (stored.certainty === 'matched' && stored.rows.size === 0 && cache.published.size === 0) return;
  const wanted = new Map(
    desired.filter((one) => intentOf(one) === 'declare').map((one) => [one.validated.rowKey, one]),
  );
  const before = stored.rows;
  const results = await api.apply(true, comparisons(wanted.values()));
  stored.quota = quotaText(quota, stored);
  const rows = new Map<string, KnownRow>();
  for (const result of results) {
    const key = rowKey(result);
    const declared = wanted.get(key);
    const row = comparedRow(result, declared, before.get(key));
    if (row !== undefined) rows.set(key, row);
    else if (result.result === 'conflict' && declared !== undefined) noteRefusal(result, declared, stored);
  }
  replaceRows(stored, rows);
}

function* comparisons(wanted: Iterable<Desired>): Generator<ApplyLine> {
  for (const one of wanted) yield { ...rowOf(one), owner: ownerOf(one.object), digest: one.digest, ...adoption(one) };
}

function adoption({ validated: { adopt } }: Desired): { readonly adopt?: Adoption } {
  return adopt === undefined ? {} : { adopt };
}

/** Returns the row that a comparison shows; undefined if this cluster has none. */
function comparedRow(
  result: ApplyResult,
  wanted: Desired | undefined,
  before: KnownRow | undefined,
): KnownRow | undefined {
  const { kind, id, owner, retain = false } = result;
  if (result.result === 'unchanged' && wanted !== undefined) return rowOfObject(wanted, rememberedForm(wanted, before));
  if (owner === undefined) return undefined;
  return { kind, id, declarer: declarerOf(owner), digest: undefined, retain, faults: none };
}

/**
 * Returns the digest and faults to remember; without a digest the object is sent again in full. Only the API can tell
 * whether a policy's rule is usable, and only when it sees the rule; it may also refuse the password of a Box's first
 * admin. Both are sent unless the answer is remembered. A client with a `jwks_uri` is sent in every sweep, because the
 * API's setting of allowed hosts may have changed.
 */
function rememberedForm(
  { validated, digest }: Desired,
  before: KnownRow | undefined,
): Pick<KnownRow, 'digest' | 'faults'> {
  const isAsked = validated.traits.kind === 'Client' && validated.traits.hasJwksUri;
  if (before?.digest === digest) return { digest: isAsked ? undefined : digest, faults: before.faults };
  const { traits } = validated;
  const hasRule =
    traits.kind === 'AccessPolicy' ? traits.engine !== 'allow' : traits.kind === 'Box' && traits.admin !== undefined;
  return { digest: hasRule || isAsked ? undefined : digest, faults: none };
}

/** Builds a row without a spread, which takes half as much memory again: there may be twenty thousand. */
function rowOfObject(
  { object, validated }: Desired,
  { digest, faults }: Pick<KnownRow, 'digest' | 'faults'>,
): KnownRow {
  return { kind: object.kind, id: validated.id, declarer: object, digest, retain: validated.retain, faults };
}

/** Result of carrying out a plan. */
export interface AppliedPlan {
  /** Removals that were confirmed and carried out. */
  readonly removed: readonly Removal[];
  /** Keys of the objects that the next pass sends. */
  readonly left: ReadonlySet<string>;
}

/** Makes the stored state match the desired one; `deletions` are those that this pass has made. */
export async function applyPlan(
  pass: BoxPass,
  desired: readonly Desired[],
  deletions: Deletions,
): Promise<AppliedPlan> {
  const { listing, cache, quota } = pass;
  const { stored } = cache;
  const { rows, refusals } = stored;
  const situation = { desired, rows, refusals, complete: listing.complete, open: deletions.open };
  if (deletions.removed.length > 0 || quotaText(quota, stored) !== stored.quota) retryBeyondQuota(stored);
  let plan = planOf(situation);
  if (plan.remove.length > 0 && retryBeyondQuota(stored)) plan = planOf(situation);
  const applied = await carryOut(pass, plan, desired);
  await removeFinalizers(pass);
  return applied;
}

/** Carries out a plan in one call of a bounded size, so that boxes take turns; the next pass plans what is left. */
async function carryOut(pass: BoxPass, plan: Plan, desired: readonly Desired[]): Promise<AppliedPlan> {
  const { cache, api, quota } = pass;
  const { stored } = cache;
  const confirmed = await confirmedRemovals(pass, plan.remove);
  const { declare, remove: due, left } = nextCall({ declare: plan.declare, remove: confirmed });
  // Before the row loses its owner: afterwards nobody could tell whose secret it is.
  const removed = await releaseRetained(pass.secrets, desired, due);
  // The API says whether it has a database that the box is not in yet.
  const isTold = quotaText(quota, stored) === stored.quota && destinationOf(cache) === undefined;
  if (removed.length === 0 && declare.length === 0 && isTold) return { removed, left };
  const declared = new Map(declare.map((one) => [one.validated.rowKey, one]));
  const results = await api.apply(false, [...removed.map(removalLine), ...declare.map(declareLine)]);
  for (const result of results) noteResult(result, declared.get(rowKey(result)), stored);
  stored.quota = quotaText(quota, stored);
  return { removed, left };
}

function declareLine(one: Desired): DeclareLine {
  const line = { ...rowOf(one), owner: ownerOf(one.object), digest: one.digest, ...adoption(one), ...ending(one) };
  return { ...line, ...previousOf(one), ...adminOf(one), resource: withSecret(one) };
}

/** Returns how the row is treated when its object is deleted. */
function ending({ validated: { retain, purge } }: Desired): { readonly retain?: true; readonly purge?: true } {
  return { ...(retain ? { retain } : {}), ...(purge ? { purge } : {}) };
}

function previousOf({ secret }: Desired): Pick<DeclareLine, 'previous'> {
  if (secret.state !== 'ready' || secret.previous === undefined) return {};
  const { value, until } = secret.previous;
  const known = value === undefined ? {} : { secret: value.reveal() };
  return { previous: { ...known, until: new Date(until).toISOString() } };
}

/** Returns the first admin of a box, once the password exists. */
function adminOf({ validated: { traits }, secret }: Desired): Pick<DeclareLine, 'bootstrap_admin'> {
  if (traits.kind !== 'Box' || traits.admin === undefined || secret.state !== 'ready') return {};
  return { bootstrap_admin: { email: traits.admin, password: secret.value.reveal() } };
}

/** Adds the secret. A missing secret leaves the stored one; a client that should have none loses it. */
function withSecret({ object, validated, secret }: Desired): Resource {
  const resource = withoutDenied(declaredResource(object, validated), validated);
  if (resource.resourceType !== 'Client' || secret.state === 'missing') return resource;
  return { ...resource, secret: secret.state === 'ready' ? secret.value.reveal() : null };
}

function noteResult(result: ApplyResult, declared: Desired | undefined, stored: StoredState): void {
  const key = rowKey(result);
  switch (result.result) {
    case 'created':
    case 'updated':
    case 'unchanged':
      if (declared === undefined) return;
      stored.rows.set(
        declared.validated.rowKey,
        rowOfObject(declared, { digest: declared.digest, faults: belowSpec(result.faults) }),
      );
      stored.refusals.delete(declared.object.key);
      return;
    case 'deleted':
    case 'absent':
      stored.rows.delete(key);
      return;
    case 'retained':
      stored.rows.delete(key);
      stored.undeclaredLinks.set(key, true);
      return;
    case 'conflict':
    case 'invalid':
      if (declared !== undefined) noteRefusal(result, declared, stored);
      return;
    case 'needed':
    case 'undeclared':
      return;
  }
}

function noteRefusal(result: ApplyResult, { object: { key }, digest }: Desired, stored: StoredState): void {
  const faults = belowSpec(result.faults);
  if (result.quota !== undefined) {
    const detail = faults.map(({ message }) => message).join('; ');
    stored.refusals.set(key, { digest, result: 'quota', faults: none, detail });
    return;
  }
  const kind = result.result === 'invalid' ? 'invalid' : 'conflict';
  const detail = result.detail ?? (kind === 'invalid' ? 'the API refuses it' : 'the id was there before');
  stored.refusals.set(key, { digest, result: kind, faults, detail });
}

const none: readonly never[] = [];

/** Puts paths below `spec`: the API names fields of the resource, which people wrote there. */
function belowSpec(faults: readonly Fault[] = none): readonly Fault[] {
  if (faults.length === 0) return none;
  return faults.map(({ path, message }) => ({ path: path === '' ? '' : `spec.${path}`, message }));
}

/** Objects beyond a quota that a sweep retries, the oldest first: rows may have been deleted over REST. */
const retriedInSweep = 1_000;

/** Forgets refusals, so that the objects are tried again; of those beyond a quota, a part. */
function retryRefusals(stored: StoredState): void {
  let beyond = 0;
  for (const [key, { result }] of stored.refusals) {
    if (result === 'quota') beyond += 1;
    if (result !== 'quota' || beyond <= retriedInSweep) stored.refusals.delete(key);
  }
}

/** Forgets refusals beyond a quota, because there may be room now; returns whether there were any. */
function retryBeyondQuota(stored: StoredState): boolean {
  const before = stored.refusals.size;
  for (const [key, { result }] of stored.refusals) if (result === 'quota') stored.refusals.delete(key);
  return stored.refusals.size < before;
}

/** Returns the quotas that the API should have, as JSON; those that it has if the Namespace's cannot be read. */
function quotaText(quota: Partial<Quota> | undefined, stored: StoredState): string {
  return quota === undefined ? stored.quota : JSON.stringify(quota, Object.keys(quota).sort());
}
