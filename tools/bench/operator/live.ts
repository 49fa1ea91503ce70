import type { BenchCluster } from './cluster.ts';

/** Milliseconds; nothing here takes half as long. */
const patience = 300_000;

/**
 * Waits until a box (or, without one, all boxes together) has as many clients and policies; the time (performance.now).
 * What is committed is enforced: every answer of every replica is given under the newest version.
 */
export async function enforced(cluster: BenchCluster, count: number, box?: string): Promise<number> {
  const deadline = performance.now() + patience;
  for (;;) {
    const there = await enforcedNow(cluster, box);
    if (there >= count) return performance.now();
    if (performance.now() > deadline) {
      throw new Error(`only ${there} of ${count} are enforced; the operator said:\n${cluster.said()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function enforcedNow(cluster: BenchCluster, box: string | undefined): Promise<number> {
  const [row] = await cluster.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM boxgate.resource
      WHERE kind IN ('Client', 'AccessPolicy') AND ($1::text IS NULL OR box = $1)`,
    [box ?? null],
  );
  return row?.n ?? 0;
}
