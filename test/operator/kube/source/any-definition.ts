import { isObject } from '../../../../crds/path.ts';
import { KINDS } from '../../../../crds/kind.ts';
import type { Kind } from '../../../../crds/kind.ts';
import type { ControlPlane } from '../../../support/cluster/control-plane.ts';

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/**
 * Gives a kind a schema that accepts any spec, as somebody may do who bypasses ours. It takes effect a little later.
 */
export async function acceptAnySpec(plane: ControlPlane, kind: Kind): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${KINDS[kind].plural}.boxgate.dev`;
  const { body } = await plane.call({ path });
  const spec = isObject(body) && isObject(body['spec']) ? body['spec'] : {};
  const versions = (Array.isArray(spec['versions']) ? spec['versions'].filter(isObject) : []).map((version) => ({
    ...version,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
  }));
  const contentType = 'application/merge-patch+json';
  await plane.call({ method: 'PATCH', path, body: { spec: { versions } }, contentType });
}
