import type { StoredResource } from '../../db/resource/resource.ts';
import type { ResourceRef, ResourceServices } from '../services.ts';

/** Reads one resource; undefined when there is none. Throws Outage. */
export function getResource(
  services: Pick<ResourceServices, 'records'>,
  ref: ResourceRef,
): Promise<StoredResource | undefined> {
  return services.records.resource(ref);
}
