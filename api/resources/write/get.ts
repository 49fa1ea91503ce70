import { readResource } from '../../db/resource/resource.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { ResourceRef, ResourceServices } from '../services.ts';

/** Reads one resource; undefined when there is none. Throws Outage. */
export function getResource(
  services: Pick<ResourceServices, 'pool'>,
  { box, kind, id }: ResourceRef,
): Promise<StoredResource | undefined> {
  return inBox(services.pool, box, 'snapshot', (connection) => readResource(connection, box, { kind, id }));
}
