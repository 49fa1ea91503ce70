import { API_GROUP } from '../../../crds/kind.ts';
import { atOnce, upTo } from './at-once.ts';
import type { BenchCluster } from './cluster.ts';
import { kubeApi } from './kube.ts';
import { enforced } from './live.ts';
import { create, nameOf, pathOf, type Plural } from './objects.ts';
import { watchReady } from './ready.ts';

/** Connections over which objects are made. */
const connections = 32;

/** Makes so many objects of a kind in a box; resolves when the API server has taken the last. */
export function createMany(
  cluster: BenchCluster,
  plural: Plural,
  box: string,
  count: number,
  spec: (name: string) => object,
  group: string = API_GROUP,
): Promise<void> {
  return atOnce(
    connections,
    upTo(count).map((nth) => nameOf(nth)),
    (name) => create(cluster.plane, plural, box, name, spec(name), group),
  );
}

/** Times of a batch, in milliseconds since its start. */
export interface BatchTimes {
  /** The API server took the last. */
  readonly taken: number;
  /** All are enforced. */
  readonly live: number;
  /** A watch has seen each Ready. */
  readonly ready: number;
}

/** Makes clients in a new box, over 32 connections. */
export async function timeBatch(
  cluster: BenchCluster,
  box: string,
  count: number,
  spec: (name: string) => object,
): Promise<BatchTimes> {
  const watching = await watchReady(kubeApi(cluster.plane.kubeconfig), [pathOf('clients', box)], count);
  const begin = performance.now();
  const creating = createMany(cluster, 'clients', box, count, spec).then(() => performance.now());
  const [taken, live, ready] = await Promise.all([creating, enforced(cluster, count, box), watching.all]);
  return { taken: taken - begin, live: live - begin, ready: ready - begin };
}

/** A box of its own for each batch. */
export async function newBox(cluster: BenchCluster): Promise<string> {
  const [box] = await cluster.boxes(1);
  if (box === undefined) throw new Error('no namespace was made');
  return box;
}
