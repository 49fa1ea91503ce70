import { randomInt } from 'node:crypto';

/** Chance that comes again with its seed. */
export interface Random {
  readonly seed: number;
  /** A number from 0 to below 1, with nine digits. */
  fraction(): number;
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number;
  /** One of them. */
  pick<T>(from: readonly [T, ...T[]]): T;
}

/**
 * The chance of a test run: of the seed in BOXGATE_SEED, so that a failure can be had again, otherwise of the seed
 * `otherwise`, a new one. Throws if BOXGATE_SEED is no whole number.
 */
export function seededRandom(otherwise = randomInt(2 ** 31)): Random {
  const given = process.env['BOXGATE_SEED'];
  if (given === undefined) return randomOf(otherwise);
  const seed = Number(given);
  if (!Number.isSafeInteger(seed)) throw new Error(`BOXGATE_SEED is ${given}; make it a whole number`);
  return randomOf(seed);
}

/** Returns chance of its own for each seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return { seed, below, fraction: () => below(1e9) / 1e9, pick: (from) => from[below(from.length)] ?? from[0] };
}
