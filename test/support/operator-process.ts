import { readOperatorConfig, type ClusterAccess } from '../../operator/config.ts';
import { serveOperator } from '../../operator/serve.ts';
import type { Environment } from '../../program/environment.ts';
import { createLog } from '../../program/log.ts';
import { RECONCILER_HEAP } from '../../program/small-heap.ts';
import { collectedLines } from './api.ts';
import { demandNoSecrets } from './secrets-in.ts';
import { startLoggedProcess, type LoggedProcess } from './logged-process.ts';
import { oneFile } from './one-file.ts';

/** `boxgate operator` in a process of its own. */
export interface OperatorProcess extends LoggedProcess {
  /** Base URL of its probes and metrics. */
  readonly healthUrl: string;
}

/** An operator in this process: it starts in a tenth of the processor time that a process of its own takes. */
export interface TestOperator extends Pick<OperatorProcess, 'healthUrl' | 'lines'> {
  /** Stops it. Throws when a secret is in its log. */
  stop(): Promise<void>;
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

/** Starts an operator in this process; it may lead later. */
export async function startOperator(
  surroundings: OperatorSurroundings,
  environment: Environment = {},
): Promise<TestOperator> {
  const config = readOperatorConfig({ ...settingsOf(surroundings), ...environment });
  const { destination, lines } = collectedLines();
  const running = await serveOperator(config, createLog(config.logLevel, destination));
  running.failed.catch((error: unknown) => lines.push(String(error)));
  return {
    lines,
    healthUrl: `http://127.0.0.1:${String(running.healthPort)}`,
    async stop() {
      await running.stop();
      demandNoSecrets(lines);
    },
  };
}

/** Starts an operator and waits until it listens; it may lead later. Throws with what it said when it ends instead. */
export async function startOperatorProcess(
  surroundings: OperatorSurroundings,
  environment: Environment = {},
): Promise<OperatorProcess> {
  const running = await startLoggedProcess(
    [...RECONCILER_HEAP, await oneFile('operator/main.ts'), 'operator'],
    { ...settingsOf(surroundings), ...environment },
    (line) => /"port":(\d+),"msg":"listening"/.exec(line)?.[1],
  );
  return { ...running, healthUrl: `http://127.0.0.1:${running.found}` };
}

function settingsOf({ access, api }: OperatorSurroundings): Environment {
  return {
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
  };
}
