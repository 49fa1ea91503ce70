import { mayAccount } from '../support/cluster/access-review.ts';
import type { PodAccount, ControlPlane } from '../support/cluster/control-plane.ts';
import { installCrds, kubectl } from '../support/cluster/install-crds.ts';
import { eventually } from '../support/eventually.ts';
import { operatorNamespace } from '../support/operator-process.ts';

/** Does what an admin does before the operator runs; what its pod has of its ServiceAccount. */
export async function installOperator(plane: ControlPlane): Promise<PodAccount> {
  await installCrds(plane);
  await plane.call({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: operatorNamespace } } });
  await kubectl(plane, 'apply', '-f', 'operator/rbac/');
  // Of an operator that was killed in another test.
  await kubectl(plane, '-n', operatorNamespace, 'delete', 'leases', '--all');
  return plane.accountFor(operatorNamespace, 'boxgate-operator');
}

/**
 * Lets the operator hold Secrets in a namespace, from its answer on: what `kubectl create rolebinding …
 * --clusterrole=boxgate-box` does.
 */
export async function bindSecrets(plane: ControlPlane, namespace: string): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io';
  const answer = await plane.call({
    method: 'POST',
    path: `/apis/${rbac}/v1/namespaces/${namespace}/rolebindings`,
    body: {
      metadata: { name: 'boxgate-box' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'boxgate-box' },
      subjects: [{ kind: 'ServiceAccount', name: 'boxgate-operator', namespace: operatorNamespace }],
    },
  });
  if (answer.status !== 201) throw new Error(`Secrets were not bound: ${JSON.stringify(answer.body)}`);
  const operator = { namespace: operatorNamespace, name: 'boxgate-operator' };
  const resourceAttributes = { verb: 'list', group: '', resource: 'secrets', namespace };
  await eventually('Secrets are bound', () => mayAccount(plane, operator, { resourceAttributes }));
}
