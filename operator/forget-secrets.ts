import type { BoxMemory, KnownRow } from './box-memory.ts';
import type { Candidate, Desired } from './desired.ts';
import type { Removal } from './plan.ts';
import type { KeptName, SecretKeeper } from './secret-keeper.ts';
import { secretName } from './secret-source.ts';

/** Lets go of the generated secrets of clients that are to be retained: they go on with them. */
export async function releaseRetained(
  box: string,
  desired: readonly Candidate[],
  removals: readonly Removal[],
  memory: BoxMemory,
  keeper: SecretKeeper,
  signal: AbortSignal,
): Promise<void> {
  const retained = removals.filter(({ row, retain }) => retain && row.kind === 'Client');
  if (retained.length === 0) return;
  const uids = new Set(retained.map(({ declarer }) => declarer.uid));
  const known = [...memory.generated.values()].filter(({ uid }) => uids.has(uid ?? ''));
  // Of one that went while nobody watched only its keeper may know which one is its.
  const all = known.length >= retained.length ? known : await keeper.names(box, signal);
  const isWanted = wantedBy(desired);
  const released = all.filter((one) => !isWanted(one) && retained.some((removal) => mayBelong(one, removal)));
  if (released.length > 0) await keeper.release(box, released, signal);
  for (const { name } of known) memory.generated.delete(name);
}

/** Removes generated secrets whose Client was removed by this pass, or has its secret from elsewhere or under another name now. */
export async function forgetUnwanted(
  box: string,
  desired: readonly Desired[],
  removed: readonly Removal[],
  memory: BoxMemory,
  keeper: SecretKeeper,
  signal: AbortSignal,
): Promise<void> {
  const clients = new Map(
    desired.filter(({ object }) => object.kind === 'Client').map((one) => [one.object.name, one]),
  );
  const gone = new Set(removed.filter(({ row }) => row.kind === 'Client').map(({ declarer }) => declarer.uid));
  const over: KeptName[] = [];
  for (const [name, kept] of memory.generated) {
    const now = clients.get(kept.client);
    const isOver = now?.object.uid === kept.uid && now !== undefined ? hasOther(now, kept) : gone.has(kept.uid ?? '');
    if (!isOver) continue;
    memory.generated.delete(name);
    over.push(kept);
  }
  if (over.length === 0) return;
  const isWanted = wantedBy(desired);
  const unwanted = over.filter((one) => !isWanted(one));
  if (unwanted.length > 0) await keeper.forget(box, unwanted, signal);
}

/**
 * Removes generated secrets that belong to no Client at two sweeps in a row: those of clients that went while nobody
 * watched. One that is merely missing in the list has its row still, and so its secret stays (docs/decisions/0022). A faulty
 * Client may be the one that has it, so then nothing is removed.
 */
export async function forgetLeftovers(
  box: string,
  desired: readonly Desired[],
  memory: BoxMemory,
  keeper: SecretKeeper,
  signal: AbortSignal,
): Promise<void> {
  if (desired.some(({ object, judged }) => object.kind === 'Client' && judged.faults.length > 0)) return;
  const isWanted = wantedBy(desired);
  const isMissing = ownedBy(missingClients(desired, memory));
  const left = (await keeper.names(box, signal)).filter((one) => !isWanted(one) && !isMissing(one));
  const again = left.filter(({ name }) => memory.leftovers.has(name));
  memory.leftovers = new Set(left.map(({ name }) => name));
  if (again.length > 0) await keeper.forget(box, again, signal);
}

/** The rows of clients of which no object is listed, and which nobody has confirmed to be gone. */
function missingClients(desired: readonly Desired[], { rows }: BoxMemory): readonly KnownRow[] {
  const listed = new Set(desired.map(({ object }) => object.uid));
  return [...rows.values()].filter(({ kind, declarer }) => kind === 'Client' && !listed.has(declarer.uid));
}

function ownedBy(rows: readonly KnownRow[]): (kept: KeptName) => boolean {
  return (kept) => rows.some((row) => mayBelong(kept, { row, declarer: row.declarer }));
}

/** Where a keeper does not know whose a secret is, it may be anybody's: it stays. */
function mayBelong({ uid, id }: KeptName, { declarer, row }: Pick<Removal, 'declarer' | 'row'>): boolean {
  return (uid ?? declarer.uid) === declarer.uid && (id ?? row.id) === row.id;
}

function hasOther({ object, judged }: Desired, { name }: KeptName): boolean {
  if (judged.faults.length > 0) return false;
  return judged.secret.from !== 'generated' || secretName(judged.secret, object.name) !== name;
}

/** Whether the client that has a generated secret still wants it under its name. */
function wantedBy(desired: readonly Candidate[]): (kept: KeptName) => boolean {
  const wanted = new Map<string, Candidate[]>();
  for (const one of desired) {
    const { secret } = one.judged;
    if (secret.from !== 'generated') continue;
    const name = secretName(secret, one.object.name) ?? one.object.name;
    wanted.set(name, [...(wanted.get(name) ?? []), one]);
  }
  return ({ name, uid, id }) =>
    (wanted.get(name) ?? []).some(
      ({ object, judged }) => (uid ?? object.uid) === object.uid && (id ?? judged.id) === judged.id,
    );
}
