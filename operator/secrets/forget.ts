import type { KnownRow } from '../reconcile/box-cache.ts';
import type { KeptSecrets, KeptName, SecretKeeper } from './keeper.ts';
import type { Candidate, Desired } from '../desired/desired.ts';
import type { Removal } from '../reconcile/plan.ts';
import { secretName } from './resolve.ts';

/**
 * Releases the generated secrets of clients that are retained: these keep using them. Returns the removals that may
 * go on: without its owner a secret that is not released would be deleted.
 */
export async function releaseRetained(
  { box, keeper, cache, signal }: KeptSecrets,
  desired: readonly Candidate[],
  removals: readonly Removal[],
): Promise<readonly Removal[]> {
  const retained = removals.filter(({ row, retain }) => retain && row.kind === 'Client');
  if (retained.length === 0) return removals;
  const uids = new Set(retained.map(({ declarer }) => declarer.uid));
  const known = [...cache.generated.values()].filter(({ uid }) => uids.has(uid ?? ''));
  // For a client deleted while nobody watched, only the keeper may know its secret.
  const all = known.length >= retained.length ? known : await keeper.names(box, signal);
  const isWanted = wantedBy(desired);
  const released = all.filter((one) => !isWanted(one) && retained.some((removal) => mayBelong(one, removal)));
  const refused = released.length === 0 ? [] : await keeper.release(box, released, signal);
  const left = new Set(refused.map(({ name }) => name));
  for (const { name } of known) if (!left.has(name)) cache.generated.delete(name);
  return removals.filter((removal) => !removal.retain || !refused.some((one) => mayBelong(one, removal)));
}

/**
 * Deletes generated secrets whose Client was removed by this pass, or now has another secret or Secret name. One that a
 * reference names stays: an exported Client refers to the Secret that was generated for it.
 */
export async function forgetUnwanted(
  { box, keeper, cache, signal }: KeptSecrets,
  desired: readonly Desired[],
  removed: readonly Removal[],
): Promise<void> {
  const clients = new Map(
    desired.filter(({ object }) => object.kind === 'Client').map((one) => [one.object.name, one]),
  );
  const gone = new Set(removed.filter(({ row }) => row.kind === 'Client').map(({ declarer }) => declarer.uid));
  const over: KeptName[] = [];
  for (const [name, kept] of cache.generated) {
    const now = clients.get(kept.client);
    const isOver = now?.object.uid === kept.uid && now !== undefined ? hasOther(now, kept) : gone.has(kept.uid ?? '');
    if (!isOver) continue;
    cache.generated.delete(name);
    over.push(kept);
  }
  if (over.length === 0) return;
  const isWanted = wantedBy(desired);
  const isReferredTo = referredToBy(desired, keeper);
  keeper.leave?.(box, over.filter(isReferredTo));
  const unwanted = over.filter((one) => !isWanted(one) && !isReferredTo(one));
  if (unwanted.length > 0) await keeper.forget(box, unwanted, signal);
}

/**
 * Deletes generated secrets that belonged to no Client in two sweeps in a row: those of clients that were deleted while
 * nobody watched. A Client that is merely missing in the list still has its row, so its secret stays
 * (decision 16). A faulty Client may own one, so then nothing is deleted.
 */
export async function forgetLeftovers(
  { box, keeper, cache, signal }: KeptSecrets,
  desired: readonly Desired[],
  rows: Rows,
): Promise<void> {
  if (desired.some(({ object, validated }) => object.kind === 'Client' && validated.faults.length > 0)) return;
  const isWanted = wantedBy(desired);
  const isReferredTo = referredToBy(desired, keeper);
  const isMissing = ownedBy(missingClients(desired, rows));
  const isLeft = (one: KeptName): boolean => !isWanted(one) && !isReferredTo(one) && !isMissing(one);
  const left = (await keeper.names(box, signal)).filter(isLeft);
  const again = left.filter(({ name }) => cache.leftovers.has(name));
  cache.leftovers = new Set(left.map(({ name }) => name));
  if (again.length > 0) await keeper.forget(box, again, signal);
}

/** By row key. */
type Rows = ReadonlyMap<string, KnownRow>;

/** Returns the rows of clients whose object is not listed and not confirmed as gone. */
function missingClients(desired: readonly Desired[], rows: Rows): readonly KnownRow[] {
  const listed = new Set(desired.map(({ object }) => object.uid));
  return [...rows.values()].filter(({ kind, declarer }) => kind === 'Client' && !listed.has(declarer.uid));
}

function ownedBy(rows: readonly KnownRow[]): (kept: KeptName) => boolean {
  return (kept) => rows.some((row) => mayBelong(kept, { row, declarer: row.declarer }));
}

/** Checks whether a secret may belong to a row's client. If its keeper does not know the owner, it may, and stays. */
function mayBelong({ uid, id }: KeptName, { declarer, row }: Pick<Removal, 'declarer' | 'row'>): boolean {
  return (uid ?? declarer.uid) === declarer.uid && (id ?? row.id) === row.id;
}

function hasOther({ object, validated }: Desired, { name }: KeptName): boolean {
  if (validated.faults.length > 0) return false;
  return validated.secret.from !== 'generated' || secretName(validated.secret, object.name) !== name;
}

/** Returns a check whether the client of a generated secret still wants it under its name. */
function wantedBy(desired: readonly Candidate[]): (kept: KeptName) => boolean {
  const wanted = new Map<string, Candidate[]>();
  for (const one of desired) {
    const { secret } = one.validated;
    if (secret.from !== 'generated') continue;
    const name = secretName(secret, one.object.name) ?? one.object.name;
    wanted.set(name, [...(wanted.get(name) ?? []), one]);
  }
  return ({ name, uid, id }) =>
    (wanted.get(name) ?? []).some(
      ({ object, validated }) => (uid ?? object.uid) === object.uid && (id ?? validated.id) === validated.id,
    );
}

/** Returns a check whether a Client or a Box refers to a Secret by its name, and may. */
function referredToBy(desired: readonly Candidate[], keeper: SecretKeeper): (kept: KeptName) => boolean {
  if (keeper.leave === undefined) return () => false;
  const names = new Set(
    desired.flatMap(({ validated: { secret } }) => (secret.from === 'reference' ? [secret.name] : [])),
  );
  return ({ name }) => names.has(name);
}
