/** RFC 3339: end of something that has none yet, such as a previous secret while nobody has seen the current one. */
export const NEVER = '9999-12-31T00:00:00.000Z';

/** Returns the seconds of a duration such as `1h30m`. */
export function secondsOf(duration: string): number {
  const units = { h: 3600, m: 60, s: 1 };
  let sum = 0;
  for (const [, number, unit] of duration.matchAll(/([0-9]+)([hms])/g)) {
    if (unit === 'h' || unit === 'm' || unit === 's') sum += Number(number) * units[unit];
  }
  return sum;
}
