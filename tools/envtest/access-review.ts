import { isRecord } from '../../crds/schema-node.ts';
import type { ControlPlane } from './control-plane.ts';

/** What is asked for: `resourceAttributes` or `nonResourceAttributes` of a SubjectAccessReview. */
export type AccessAttributes =
  | { readonly resourceAttributes: Readonly<Record<string, string | undefined>> }
  | { readonly nonResourceAttributes: Readonly<Record<string, string>> };

/** Whether the API server lets a ServiceAccount do something; it hears of a changed role some milliseconds later. */
export async function mayAccount(
  plane: ControlPlane,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  attributes: AccessAttributes,
): Promise<boolean> {
  const spec = { user: `system:serviceaccount:${namespace}:${name}`, ...attributes };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const answer = (await plane.call({ method: 'POST', path, body })).body;
  const status = isRecord(answer) && isRecord(answer['status']) ? answer['status'] : {};
  return status['allowed'] === true;
}
