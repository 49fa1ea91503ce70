import { bumpVersion } from '../../db/box/box.ts';
import { deleteResources } from '../../db/resource/write.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import { changingResource, refuseManaged } from './change.ts';
import { resourceEvent } from './resource-event.ts';
import { demandPreconditions } from './etag.ts';
import type { Preconditions } from './etag.ts';
import type { ResourceRef, ResourceServices } from '../services.ts';

/**
 * Deletes a resource and returns it; undefined when it was not there. With a client all its sessions end. Throws
 * Problem `conflict` (it is managed), `precondition-failed`, and Outage.
 */
export function deleteResource(
  services: ResourceServices,
  ref: ResourceRef,
  preconditions: Preconditions,
): Promise<StoredResource | undefined> {
  const { box, kind, id } = ref;
  return changingResource(services, ref, async (connection, note, { resource: current }) => {
    const key = { kind, id };
    refuseManaged(current, services);
    demandPreconditions(preconditions, current?.version);
    if (current === undefined) return undefined;
    await deleteResources(connection, box, await bumpVersion(connection, box), [key]);
    note(resourceEvent('deleted', key));
    return current;
  });
}
