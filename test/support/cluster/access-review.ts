import { isObject } from '../../../crds/path.ts';
import type { ControlPlane } from './control-plane.ts';

/** Subject of the review: `resourceAttributes` or `nonResourceAttributes` of a SubjectAccessReview. */
export type AccessAttributes =
  | { readonly resourceAttributes: Readonly<Record<string, string | undefined>> }
  | { readonly nonResourceAttributes: Readonly<Record<string, string>> };

/**
 * Checks whether the API server permits an action of a ServiceAccount; a changed role takes effect some milliseconds
 * later.
 */
export async function mayAccount(
  plane: ControlPlane,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  attributes: AccessAttributes,
): Promise<boolean> {
  const spec = { user: `system:serviceaccount:${namespace}:${name}`, ...attributes };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const answer = (await plane.call({ method: 'POST', path, body })).body;
  const status = isObject(answer) && isObject(answer['status']) ? answer['status'] : {};
  return status['allowed'] === true;
}
