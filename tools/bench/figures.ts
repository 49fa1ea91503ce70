/** A ratio as a percentage: 1.084 is `108 %`. */
export function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(0)} %`;
}

/** A rate: 15,312/s. */
export function perSecond(rate: number): string {
  return `${whole(rate)}/s`;
}

/** Milliseconds, to three places below ten: CPU of one request is a fraction of one. */
export function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(3) : value.toFixed(0)} ms`;
}

/** Bytes as megabytes: 1 MB is 1,000,000 B. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

/** A number with separators and no fraction. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** The middle one, or the mean of the two in the middle; NaN when there is none. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return low === undefined || high === undefined ? NaN : (low + high) / 2;
}

/** The median of a / b, round by round: a slow minute of the machine falls on both sides of each quotient. */
export function medianRatio(a: number[], b: number[]): number {
  return median(a.map((value, round) => value / (b[round] ?? NaN)));
}

/** The values between which the median lies in 95 of 100 resamples (percentile bootstrap). */
export function intervalOfMedian(values: number[], resamples = 2_000): { low: number; high: number } {
  const medians = Array.from({ length: resamples }, () =>
    median(values.map(() => values[Math.floor(Math.random() * values.length)] ?? NaN)),
  ).toSorted((a, b) => a - b);
  const at = (part: number): number => medians[Math.floor(part * (resamples - 1))] ?? NaN;
  return { low: at(0.025), high: at(0.975) };
}
