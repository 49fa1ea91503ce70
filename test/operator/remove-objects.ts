import { KINDS } from '../../crds/kind.ts';
import { isObject } from '../../crds/path.ts';
import { forEachConcurrently, metadataOf } from '../../operator/kube/client/kube-object.ts';
import type { ControlPlane } from '../support/cluster/control-plane.ts';

/** Removes every object of our kinds from a cluster where no operator runs that would take finalizers off. */
export async function removeObjects(plane: ControlPlane): Promise<void> {
  for (const { plural } of Object.values(KINDS)) {
    const { body } = await plane.call({ path: `/apis/boxgate.dev/v1/${plural}` });
    const items = isObject(body) && Array.isArray(body['items']) ? body['items'] : [];
    await forEachConcurrently(items, async (item) => {
      const { namespace, name } = metadataOf(item);
      const path = `/apis/boxgate.dev/v1/namespaces/${String(namespace)}/${plural}/${String(name)}`;
      const contentType = 'application/merge-patch+json';
      await plane.call({ method: 'PATCH', path, body: { metadata: { finalizers: null } }, contentType });
      await plane.call({ method: 'DELETE', path });
    });
  }
}
