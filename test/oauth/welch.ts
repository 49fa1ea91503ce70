/** Mean, variance and number of a sample. */
export interface Sample {
  readonly mean: number;
  readonly variance: number;
  readonly size: number;
}

/** A sample of measured times without its slowest tenth: what interrupted them says nothing of the code. */
export function trimmed(times: readonly number[]): Sample {
  const kept = times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length * 0.9));
  const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length;
  const variance = kept.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (kept.length - 1);
  return { mean, variance, size: kept.length };
}

/**
 * Welch's t of two samples, for a difference beyond `negligible` of the smaller mean: how many standard errors the
 * difference of the means lies outside it, zero when it lies within.
 */
export function welch(left: Sample, right: Sample, negligible: number): number {
  const within = negligible * Math.min(left.mean, right.mean);
  const beyond = Math.max(0, Math.abs(left.mean - right.mean) - within);
  return beyond / Math.sqrt(left.variance / left.size + right.variance / right.size);
}

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}
