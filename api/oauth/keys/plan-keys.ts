import type { Box } from '../../../crds/box.ts';
import type { SigningKeyRow } from '../../db/box/config-changes.ts';
import { signingKey } from '../../box/key-ring.ts';
import type { SigningAlgorithm } from '../../box/key-ring.ts';

/** A key that a box does not have yet: of this algorithm, for tokens until then (seconds since 1970). */
export interface MissingKey {
  readonly algorithm: SigningAlgorithm;
  readonly until: number;
}

/** Seconds between two keys if the Box does not set them. */
export const defaultRotationPeriod = 90 * 86_400;

const dayMs = 86_400_000;
/** A key outlives its last token by this much: the clocks of two replicas differ. */
const clockSlack = 5 * 60_000;

/** A step of key upkeep. Times in milliseconds since 1970. */
export type KeyStep =
  | {
      readonly do: 'create';
      readonly algorithm: SigningAlgorithm;
      readonly activeFrom: number;
      readonly signedUntil: number;
    }
  | { readonly do: 'retire'; readonly kid: string; readonly at: number }
  | { readonly do: 'extend'; readonly kid: string; readonly signedUntil: number }
  | { readonly do: 'delete'; readonly kid: string };

/**
 * Plans the upkeep of a box's keys (oldest first; pure). A successor is published ahead of its use by a day or half the
 * period, whichever is shorter; an old key stays published until the last token it signed has expired. `needed`: a
 * token waits for a key. Without it the plan includes the keys of other algorithms, which sign id_tokens: at the end of
 * its period such a key gets a successor if it signed something lately, otherwise none. `now` in milliseconds.
 */
export function planKeys(
  keys: readonly SigningKeyRow[],
  box: Box,
  needed: MissingKey | undefined,
  now: number,
): readonly KeyStep[] {
  const algorithm = needed?.algorithm ?? box.signing?.algorithm ?? 'ES256';
  const own = keys.filter((key) => key.algorithm === algorithm);
  return [
    ...dropOver(keys, now),
    ...(needed === undefined ? [] : extendFor(own, needed, now)),
    ...(own.some(isInUse) ? rotate(own, box, now) : [first(algorithm, needed, now)]),
    ...(needed === undefined ? upkeepOfOthers(keys, algorithm, box, now) : []),
  ];
}

function isInUse(key: SigningKeyRow): boolean {
  return key.retiredAt === undefined;
}

function dropOver(keys: readonly SigningKeyRow[], now: number): readonly KeyStep[] {
  const over = ({ retiredAt, signedUntil }: SigningKeyRow): boolean =>
    retiredAt !== undefined && Math.max(retiredAt, signedUntil) + clockSlack < now;
  return keys.filter(over).map(({ kid }) => ({ do: 'delete', kid }));
}

/** Plans the other keys. One that signed within the last day is needed: {@link endOf} adds a day to the request. */
function upkeepOfOthers(
  keys: readonly SigningKeyRow[],
  algorithm: SigningAlgorithm,
  box: Box,
  now: number,
): readonly KeyStep[] {
  const others = Map.groupBy(
    keys.filter((key) => isInUse(key) && key.algorithm !== algorithm),
    (key) => key.algorithm,
  );
  return [...others.values()].flatMap((same) => {
    const steps = rotate(same, box, now);
    const isWanted = same.some(({ signedUntil }) => signedUntil >= now);
    return isWanted ? steps : steps.flatMap((step) => (step.do === 'retire' ? [{ ...step, at: now }] : []));
  });
}

/** Returns the requested end plus a day, so that the next tokens need no write. */
function endOf(needed: MissingKey): number {
  return needed.until * 1000 + dayMs;
}

function extendFor(own: readonly SigningKeyRow[], needed: MissingKey, now: number): readonly KeyStep[] {
  const current = signingKey(own, now);
  if (current === undefined || current.signedUntil >= needed.until * 1000) return [];
  return [{ do: 'extend', kid: current.kid, signedUntil: endOf(needed) }];
}

function first(algorithm: SigningAlgorithm, needed: MissingKey | undefined, now: number): KeyStep {
  return { do: 'create', algorithm, activeFrom: now, signedUntil: needed === undefined ? now : endOf(needed) };
}

function rotate(own: readonly SigningKeyRow[], box: Box, now: number): readonly KeyStep[] {
  const newest = own.findLast(isInUse);
  const period = (box.signing?.rotation_period ?? defaultRotationPeriod) * 1000;
  const lead = Math.min(dayMs, period / 2);
  if (newest === undefined || now < newest.activeFrom + period - lead) return [];
  const activeFrom = now + lead;
  const { algorithm, signedUntil } = newest;
  return [
    { do: 'retire', kid: newest.kid, at: activeFrom },
    { do: 'create', algorithm, activeFrom, signedUntil: signedUntil + lead },
  ];
}
