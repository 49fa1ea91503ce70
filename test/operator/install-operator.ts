import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isObject } from '../../crds/path.ts';
import { parseAllDocuments } from 'yaml';
import { mayAccount } from '../support/cluster/access-review.ts';
import type { PodAccount, ControlPlane } from '../support/cluster/control-plane.ts';
import { installCrds } from '../support/cluster/install-crds.ts';
import { eventually } from '../support/eventually.ts';
import { operatorNamespace } from '../support/operator-process.ts';

const rbacFolder = 'operator/rbac';

/** Does what an admin does before the operator runs; what its pod has of its ServiceAccount. */
export async function installOperator(plane: ControlPlane): Promise<PodAccount> {
  await installCrds(plane);
  await plane.call({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: operatorNamespace } } });
  for (const file of await readdir(rbacFolder)) {
    for (const document of parseAllDocuments(await readFile(path.join(rbacFolder, file), 'utf8'))) {
      await applyObject(plane, document.toJS());
    }
  }
  // Of an operator that was killed in another test.
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${operatorNamespace}/leases`;
  await plane.call({ method: 'DELETE', path: leases });
  return plane.accountFor(operatorNamespace, 'boxgate-operator');
}

/** Applies an object as `kubectl apply` does, without its second of looking around. */
async function applyObject(plane: ControlPlane, body: unknown): Promise<void> {
  const { apiVersion, kind, metadata } = isObject(body) ? body : {};
  const { namespace, name } = isObject(metadata) ? metadata : {};
  const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${String(apiVersion)}`;
  const within = typeof namespace === 'string' ? `/namespaces/${namespace}` : '';
  const place = `${group}${within}/${String(kind).toLowerCase()}s/${String(name)}?fieldManager=admin&force=true`;
  const contentType = 'application/apply-patch+yaml';
  const answer = await plane.call({ method: 'PATCH', path: place, body, contentType });
  if (answer.status > 299) throw new Error(`${place}: ${JSON.stringify(answer.body)}`);
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
