import { isObject } from '../../../../crds/path.ts';
import type { ControlPlane } from '../../../support/cluster/control-plane.ts';

/** A Service of a cluster, as far as the tests look at it. */
export interface FoundService {
  readonly uid: string;
  readonly labels: unknown;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Returns the path of the Service of a box. */
export function servicePath(box: string): string {
  return `/api/v1/namespaces/${box}/services/boxgate`;
}

/** Returns the Service of a box as it is now, or undefined. */
export async function findService(plane: ControlPlane, box: string): Promise<FoundService | undefined> {
  const { status, body } = await plane.call({ path: servicePath(box) });
  const { metadata, spec } = status === 200 && isObject(body) ? body : {};
  if (!isObject(metadata) || !isObject(spec)) return undefined;
  return { uid: String(metadata['uid']), labels: metadata['labels'], spec };
}

/** Changes the Service of a box by a merge patch. Throws what the API server says against it. */
export async function patchService(plane: ControlPlane, box: string, body: object): Promise<void> {
  const contentType = 'application/merge-patch+json';
  const answer = await plane.call({ method: 'PATCH', path: servicePath(box), body, contentType });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}
