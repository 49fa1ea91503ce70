/** Wait of a failed key: doubled with each failure in a row, at most `ceiling`; in milliseconds. */
export interface BackOff {
  readonly first: number;
  readonly ceiling: number;
}

/** Quick at first, then one try every 15 to 30 seconds, forever. */
export const defaultBackOff: BackOff = { first: 200, ceiling: 30_000 };

/**
 * Returns the milliseconds to wait after the `failures`-th failure in a row (from 1). `random` in [0, 1) spreads the
 * waits over half of their length, so that many keys do not retry at the same moment.
 */
export function waitAfter(failures: number, { first, ceiling }: BackOff, random: () => number): number {
  const full = Math.min(ceiling, first * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (0.5 + random() / 2));
}
