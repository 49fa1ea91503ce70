import { isObject } from '../../../crds/json-value.ts';
import type { BareWrite } from './bare-writer-options.ts';
import type { BenchCluster } from './cluster.ts';
import { pathOf, type Plural } from './objects.ts';

/**
 * The writes that the operator makes for an object of a kind, as one of them shows: its finalizer, its Secret, its
 * status.
 */
export async function writesOfOperator(cluster: BenchCluster, plural: Plural): Promise<readonly BareWrite[]> {
  const { body } = await cluster.plane.call({ path: `${pathOf(plural)}?limit=1` });
  const [first] = isObject(body) && Array.isArray(body['items']) ? body['items'].filter(isObject) : [];
  const { metadata, status } = first ?? {};
  if (!isObject(metadata) || !isObject(status)) throw new Error(`there are no ${plural}`);
  return [
    ...(status['secret'] === 'generated' ? (['secret'] as const) : []),
    ...(Array.isArray(metadata['finalizers']) ? (['finalizer'] as const) : []),
    'status',
  ];
}
