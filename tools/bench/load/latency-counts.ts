/** A histogram of latencies: 10 µs steps up to 10 s, beyond that only the maximum is exact. */
export type LatencyCounts = {
  record(milliseconds: number): void;
  /** The upper edge of the step that holds this part of all values (0 to 1), milliseconds; 0 when there are none. */
  quantile(part: number): number;
  total(): number;
  max(): number;
};

const stepsPerMillisecond = 100;
const steps = 10_000 * stepsPerMillisecond;

/** An empty histogram. Recording costs an array increment: it shares two cores with the server it measures. */
export function latencyCounts(): LatencyCounts {
  const counts = new Uint32Array(steps + 1);
  let total = 0;
  let max = 0;
  return {
    record(milliseconds) {
      const step = Math.min(steps, Math.floor(milliseconds * stepsPerMillisecond));
      counts[step] = (counts[step] ?? 0) + 1;
      total += 1;
      if (milliseconds > max) max = milliseconds;
    },
    quantile(part) {
      let left = Math.ceil(total * part);
      if (left === 0) return 0;
      const step = counts.findIndex((count) => (left -= count) <= 0);
      return step === steps ? max : Math.min(max, (step + 1) / stepsPerMillisecond);
    },
    total: () => total,
    max: () => max,
  };
}
