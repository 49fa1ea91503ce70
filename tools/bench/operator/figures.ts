/** Milliseconds as seconds: `1.24 s`. */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** A ratio: `1.24 times`. */
export function times(ratio: number): string {
  return `${ratio.toFixed(2)} times`;
}

/** The value that so large a part of the values does not exceed; NaN when there is none. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? NaN;
}
