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
