/** Returns the seconds of a duration such as `1h30m`. */
export function secondsOf(duration: string): number {
  const units = { h: 3600, m: 60, s: 1 };
  let sum = 0;
  for (const [, number, unit] of duration.matchAll(/([0-9]+)([hms])/g)) {
    if (unit === 'h' || unit === 'm' || unit === 's') sum += Number(number) * units[unit];
  }
  return sum;
}
