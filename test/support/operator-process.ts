import type { ClusterAccess } from '../../operator/config.ts';
import type { Environment } from '../../program/environment.ts';
import { RECONCILER_HEAP } from '../../program/small-heap.ts';
import { startLoggedProcess, type LoggedProcess } from './logged-process.ts';

/** `boxgate operator` in a process of its own. */
export interface OperatorProcess extends LoggedProcess {
  /** Base URL of its probes and metrics. */
  readonly healthUrl: string;
}

/** The least that an operator needs to know of the API and the cluster. */
export interface OperatorSurroundings {
  readonly access: ClusterAccess;
  readonly api: { readonly url: string; readonly managementUrl: string; readonly managementKey: string };
}

/** The namespace that the files in operator/rbac are for. */
export const operatorNamespace = 'boxgate-system';

/** The settings by which an operator finds its cluster. */
export function environmentOf(access: ClusterAccess): Environment {
  if ('kubeconfig' in access) return { KUBECONFIG: access.kubeconfig };
  return {
    KUBERNETES_SERVICE_HOST: access.host,
    KUBERNETES_SERVICE_PORT: String(access.port),
    BOXGATE_SERVICE_ACCOUNT_FOLDER: access.accountFolder,
  };
}

/** Starts an operator and waits until it listens; it may lead later. Throws with what it said when it ends instead. */
export async function startOperatorProcess(
  { access, api }: OperatorSurroundings,
  environment: Environment = {},
): Promise<OperatorProcess> {
  const running = await startLoggedProcess(
    [...RECONCILER_HEAP, 'operator/main.ts', 'operator'],
    {
      ...environmentOf(access),
      BOXGATE_MANAGEMENT_URL: api.managementUrl,
      BOXGATE_MANAGEMENT_KEYS: api.managementKey,
      BOXGATE_DIGEST_KEY: Buffer.alloc(32, 3).toString('base64'),
      BOXGATE_PUBLIC_URL: api.url,
      BOXGATE_NAMESPACE: operatorNamespace,
      BOXGATE_HOST: '127.0.0.1',
      BOXGATE_HEALTH_PORT: '0',
      // A machine that stalls for some seconds costs nobody the Lease.
      BOXGATE_LEASE_SECONDS: '15',
      ...environment,
    },
    (line) => /"port":(\d+),"msg":"listening"/.exec(line)?.[1],
  );
  return { ...running, healthUrl: `http://127.0.0.1:${running.found}` };
}
