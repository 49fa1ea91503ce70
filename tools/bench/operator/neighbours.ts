import { isObject } from '../../../crds/json-value.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { whole } from '../figures.ts';
import type { BenchCluster } from './cluster.ts';
import { quantile } from './figures.ts';
import { demand } from './objects.ts';
import type { Prober } from './prober.ts';

/** Deletes all objects of a path and waits until they have gone: they would burden the next round. */
export async function empty(cluster: BenchCluster, path: string): Promise<void> {
  await demand(cluster.plane, 200, { method: 'DELETE', path });
  for (;;) {
    const page = await demand(cluster.plane, 200, { method: 'GET', path: `${path}?limit=1` });
    if (isObject(page) && Array.isArray(page['items']) && page['items'].length === 0) return;
    await pause(200);
  }
}

/** Milliseconds from create to token, of probes one after the other until the work is done. */
export async function probesDuring(prober: Prober, work: Promise<unknown>): Promise<readonly number[]> {
  const over = new AbortController();
  const done = work.finally(() => over.abort());
  const took: number[] = [];
  // At least one: small samples may be over at once.
  do took.push((await prober.probe(`probe-${randomBytes(4).toString('hex')}`)).token);
  while (!over.signal.aborted);
  await done;
  return took;
}

/** The median and the worst of probes, for people. */
export function texts(took: readonly number[]): string {
  const [p50, worst] = [quantile(took, 0.5), Math.max(...took)];
  return `p50 ${p50.toFixed(0)} ms, worst ${worst.toFixed(0)} ms (${whole(took.length)})`;
}
