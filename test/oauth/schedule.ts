import { setImmediate as turn } from 'node:timers/promises';

/** Rounds of a race in a run of all tests; BOXGATE_RACE_ROUNDS asks for more. */
export const raceRounds = Number(process.env['BOXGATE_RACE_ROUNDS'] ?? 200);

/** BOXGATE_RACE_SEED repeats the rounds of a run that failed. */
export const raceSeed = Number(process.env['BOXGATE_RACE_SEED'] ?? Date.now() % 1_000_000);

/** Chance that comes again with its seed. */
export interface Chance {
  /** A whole number from 0 to `below` - 1. */
  number(below: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** Chance of a seed (mulberry32). */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const number = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
  return { number, pick: (items) => items[number(items.length)] ?? items[0] };
}

/** Lets the event loop turn that often: long enough for what runs beside it to be anywhere on its way. */
export async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await turn();
}
