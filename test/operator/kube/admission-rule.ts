import type { ControlPlane } from '../../support/cluster/control-plane.ts';

/** Changes that a rule denies: of a resource in one namespace, where the expression (CEL) is false. */
export interface AdmissionRule {
  readonly namespace: string;
  /** API group and plural name of the resource. */
  readonly group: string;
  readonly resource: string;
  readonly expression: string;
}

/** The sentence of the rule. */
export const sentence = 'the team says no';

const api = 'admissionregistration.k8s.io/v1';
const plurals = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'] as const;

/** Denies updates by a ValidatingAdmissionPolicy, which is in force some moments later. */
export async function deny(plane: ControlPlane, rule: AdmissionRule): Promise<void> {
  const { namespace, group, resource, expression } = rule;
  const name = `refuse-${namespace}`;
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const resourceRules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['UPDATE'], resources: [resource] }];
  const policy = {
    matchConstraints: { namespaceSelector, resourceRules },
    validations: [{ expression, message: sentence }],
  };
  const binding = { policyName: name, validationActions: ['Deny'] };
  for (const [kind, plural, spec] of [
    ['ValidatingAdmissionPolicy', plurals[0], policy],
    ['ValidatingAdmissionPolicyBinding', plurals[1], binding],
  ] as const) {
    const body = { apiVersion: api, kind, metadata: { name }, spec };
    await plane.call({ method: 'POST', path: `/apis/${api}/${plural}`, body });
  }
}

/** Checks whether the API server denies a change of an object of the namespace, which it tries without making it. */
export async function isDenied(plane: ControlPlane, path: string): Promise<boolean> {
  const body = { metadata: { annotations: { probe: 'x' } } };
  const contentType = 'application/merge-patch+json';
  return (await plane.call({ method: 'PATCH', path: `${path}?dryRun=All`, body, contentType })).status === 422;
}

/** Removes the rule of a namespace, if it has one. */
export async function allowAgain(plane: ControlPlane, namespace: string): Promise<void> {
  for (const plural of plurals.toReversed())
    await plane.call({ method: 'DELETE', path: `/apis/${api}/${plural}/refuse-${namespace}` });
}
