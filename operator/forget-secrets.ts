import type { BoxMemory } from './box-memory.ts';
import type { Candidate, Desired } from './desired.ts';
import type { Removal } from './plan.ts';
import type { SecretKeeper } from './secret-keeper.ts';
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
  const clients = removals.flatMap(({ row, declarer, retain }) =>
    retain && row.kind === 'Client' ? [declarer.name] : [],
  );
  if (clients.length === 0) return;
  // Of one that went while nobody watched it is not known: any secret that nobody wants may be its.
  const isKnown = clients.every((client) => memory.generated.has(client));
  const names = isKnown
    ? clients.flatMap((client) => memory.generated.get(client) ?? [])
    : await keeper.names(box, signal);
  const wanted = claimed(desired);
  const released = names.filter((name) => !wanted.has(name));
  if (released.length > 0) await keeper.release(box, released, signal);
  for (const client of clients) memory.generated.delete(client);
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
  const gone = new Set(removed.filter(({ row }) => row.kind === 'Client').map(({ declarer }) => declarer.name));
  const names: string[] = [];
  for (const [client, secret] of memory.generated) {
    const now = clients.get(client);
    const isOver = now === undefined ? gone.has(client) : hasOther(now, secret);
    if (!isOver) continue;
    memory.generated.delete(client);
    names.push(secret);
  }
  if (names.length === 0) return;
  const wanted = claimed(desired);
  const unwanted = names.filter((name) => !wanted.has(name));
  if (unwanted.length > 0) await keeper.forget(box, unwanted, signal);
}

/**
 * Removes generated secrets that belong to no Client at two sweeps in a row: those of clients that went while nobody
 * watched. A faulty Client may be the one that has it, so then nothing is removed.
 */
export async function forgetLeftovers(
  box: string,
  desired: readonly Desired[],
  memory: BoxMemory,
  keeper: SecretKeeper,
  signal: AbortSignal,
): Promise<void> {
  if (desired.some(({ object, judged }) => object.kind === 'Client' && judged.faults.length > 0)) return;
  const wanted = claimed(desired);
  const left = new Set((await keeper.names(box, signal)).filter((name) => !wanted.has(name)));
  const again = [...left].filter((name) => memory.leftovers.has(name));
  memory.leftovers = left;
  if (again.length > 0) await keeper.forget(box, again, signal);
}

function hasOther({ object, judged }: Desired, secret: string): boolean {
  if (judged.faults.length > 0) return false;
  return judged.secret.from !== 'generated' || secretName(judged.secret, object.name) !== secret;
}

/** The names that generated secrets are wanted under. */
function claimed(desired: readonly Candidate[]): ReadonlySet<string> {
  const generated = desired.filter(({ judged }) => judged.secret.from === 'generated');
  return new Set(generated.map(({ object, judged }) => secretName(judged.secret, object.name) ?? object.name));
}
