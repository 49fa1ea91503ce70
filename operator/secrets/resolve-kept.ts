import { NEVER } from '../../crds/duration.ts';
import type { ReadySecret } from './resolve.ts';
import type { SecretWish } from './keeper.ts';
import { nextLook, type KeptSecret } from './rotation.ts';

const never = Date.parse(NEVER);

/** Returns what a kept secret means for its client's row; `version` is its keeper's name for this state of it. */
export function resolveKept(
  kept: KeptSecret,
  version: string,
  { rotation, usage }: Pick<SecretWish, 'rotation' | 'usage'>,
  now: number,
): ReadySecret {
  const { value, next, previous } = kept;
  const look = nextLook(kept, rotation, now);
  if (next !== undefined) {
    return { state: 'ready', value: next, previous: { value, until: never }, isStaged: true, version };
  }
  if (previous === undefined) return { state: 'ready', value, version, look };
  return { state: 'ready', value, previous, version, look, previousLastUsed: usage?.previousLastUsed };
}
