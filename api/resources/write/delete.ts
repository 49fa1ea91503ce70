import { bumpVersion } from '../../db/box/box.ts';
import { deleteResources } from '../../db/resource/write.ts';
import { readResource } from '../../db/resource/resource.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import { changing, refuseManaged } from './change.ts';
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
  return changing(services, box, async (connection, note) => {
    const key = { kind, id };
    const current = await readResource(connection, box, key);
    refuseManaged(current, services);
    demandPreconditions(preconditions, current?.version);
    if (current === undefined) return undefined;
    await deleteResources(connection, box, await bumpVersion(connection, box), [key]);
    note(resourceEvent('deleted', key));
    return current;
  });
}
