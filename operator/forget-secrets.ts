import type { BoxMemory } from './box-memory.ts';
import type { Desired } from './desired.ts';
import type { Removed } from './carry-out.ts';
import type { SecretKeeper } from './secret-keeper.ts';
import { secretName } from './secret-source.ts';

/**
 * Removes generated secrets whose Client was removed by this pass, or has its secret from elsewhere or under another name
 * now. That of a client that is retained goes on with it.
 */
export async function forgetUnwanted(
  box: string,
  desired: readonly Desired[],
  removed: readonly Removed[],
  memory: BoxMemory,
  keeper: SecretKeeper,
  signal: AbortSignal,
): Promise<void> {
  const clients = new Map(
    desired.filter(({ object }) => object.kind === 'Client').map((one) => [one.object.name, one]),
  );
  const gone = new Map(
    removed.flatMap(({ row, declarer, retained }) => (row.kind === 'Client' ? [[declarer.name, retained]] : [])),
  );
  const known = new Set(memory.generated.keys());
  const names: string[] = [];
  const released: string[] = [];
  for (const [client, secret] of memory.generated) {
    const now = clients.get(client);
    const isOver = now === undefined ? gone.has(client) : hasOther(now, secret);
    if (!isOver) continue;
    memory.generated.delete(client);
    if (gone.get(client) === true) released.push(secret);
    else names.push(secret);
  }
  if (names.length + released.length + gone.size === 0) return;
  const wanted = claimed(desired);
  const strangers = [...gone].some(([client, retained]) => retained && !known.has(client));
  // Retained, and unknown since before the last start: any secret that nobody wants may be its.
  if (strangers) released.push(...(await keeper.names(box, signal)));
  const free = released.filter((name) => !wanted.has(name));
  if (free.length > 0) await keeper.release(box, free, signal);
  const unwanted = names.filter((name) => !wanted.has(name) && !free.includes(name));
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
function claimed(desired: readonly Desired[]): ReadonlySet<string> {
  const generated = desired.filter(({ judged }) => judged.secret.from === 'generated');
  return new Set(generated.map(({ object, judged }) => secretName(judged.secret, object.name) ?? object.name));
}
