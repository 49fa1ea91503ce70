import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { PodAccess } from '../../../operator/config.ts';
import type { ControlPlane } from '../../support/cluster/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { startOperatorProcess, operatorNamespace, type OperatorProcess } from '../../support/operator-process.ts';
import { managementKey, type RestartedApi } from './api-supply.ts';
import type { EpochWatch } from './epoch-watch.ts';
import { startHttpWrites } from './http-writes.ts';
import { kubernetesWrite, managementWrite } from './operator-writes.ts';
import { startRestarted, type Restarted, type Started } from './restarted.ts';
import type { WriteLog } from './write-log.ts';

/** The operator on a control plane, as a process that a write log's plan may end. */
export interface RestartedOperator extends Restarted<OperatorProcess> {
  /**
   * Ends the one that leads, as a node that fails does; the next has its turn with {@link RestartedOperator.present}.
   */
  kill(): void;
}

/** Options of the operators. */
export interface OperatorSupplyOptions {
  readonly plane: ControlPlane;
  /** As the operator's ServiceAccount. */
  readonly access: PodAccess;
  readonly api: RestartedApi;
  readonly log: WriteLog;
  readonly epochs: EpochWatch;
}

interface StartedOperator extends Started<OperatorProcess> {
  crash(): void;
  /** Lets it begin: until then it is frozen, and what it has asked is held. */
  release(): void;
}

/** Starts it; every process reaches the API server and the management port through proxies of its own. */
export async function startRestartedOperator(options: OperatorSupplyOptions): Promise<RestartedOperator> {
  // As after a Lease has run out, only sooner.
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${operatorNamespace}/leases/boxgate-operator`;
  const restarted = await startRestarted<OperatorProcess, StartedOperator>({
    name: 'operator',
    start: () => start(options),
    async begin(one) {
      await eventually('the Lease of the one before is gone', async () => {
        const { status } = await options.plane.call({ method: 'DELETE', path: lease });
        return status === 200 || status === 404;
      });
      one.release();
    },
  });
  return { ...restarted, kill: () => restarted.serving().crash() };
}

async function start({ plane, access, api, log, epochs }: OperatorSupplyOptions): Promise<StartedOperator> {
  let isCrashed = false;
  const crash = (): void => {
    isCrashed = true;
    running.signal('SIGKILL');
  };
  const certificates = path.join(path.dirname(plane.kubeconfig), 'certificates');
  const [cert, key] = await Promise.all(
    ['apiserver.crt', 'apiserver.key'].map((name) => readFile(path.join(certificates, name))),
  );
  if (cert === undefined || key === undefined) throw new Error('the API server has no certificate');
  const kube = await startHttpWrites({
    target: () => Promise.resolve(plane.url),
    ca: cert,
    tls: { cert, key },
    describe: kubernetesWrite,
    held: true,
    log,
    crash,
  });
  const management = await startHttpWrites({
    target: async () => (await api.present()).managementUrl,
    describe: managementWrite,
    held: true,
    log,
    crash,
    onAnswer: epochs.heard,
  });
  const managementUrl = `http://127.0.0.1:${String(management.port)}`;
  const running = await startOperatorProcess(
    {
      access: { ...access, port: kube.port },
      api: { url: 'http://boxgate.test', managementUrl, managementKey },
    },
    // Longer than any stall of a busy machine.
    { BOXGATE_CLUSTER_ID: 'crash-points', BOXGATE_LEASE_SECONDS: '60' },
  );
  running.signal('SIGSTOP');
  return {
    process: running,
    isCrashed: () => isCrashed,
    crash,
    release() {
      kube.release();
      management.release();
      running.signal('SIGCONT');
    },
    async end() {
      await running.end('SIGKILL');
      await Promise.all([kube.close(), management.close()]);
    },
  };
}
