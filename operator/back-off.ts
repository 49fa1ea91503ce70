/** How long a failed key waits: doubled with each failure in a row, at most `ceiling`; in milliseconds. */
export interface BackOff {
  readonly first: number;
  readonly ceiling: number;
}

/** Quick at first, then at most one try in half a minute, for ever. */
export const defaultBackOff: BackOff = { first: 200, ceiling: 30_000 };

/**
 * Milliseconds to wait after the `failures`-th failure in a row (from 1). `random` in [0, 1) spreads the waits of many
 * over half of their length, so that they do not come back all at once.
 */
export function waitAfter(failures: number, { first, ceiling }: BackOff, random: () => number): number {
  const full = Math.min(ceiling, first * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (0.5 + random() / 2));
}
