import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { InCluster } from '../../../operator/kube/client/in-cluster.ts';
import type { ControlPlane } from '../../../tools/envtest/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { startOperatorProcess, operatorNamespace, type OperatorProcess } from '../../support/operator-process.ts';
import { managementKey, type RestartedApi } from './api-supply.ts';
import type { EpochWatch } from './epoch-watch.ts';
import { startHttpWrites } from './http-writes.ts';
import { kubernetesWrite, managementWrite } from './operator-writes.ts';
import { createSupply } from './supply.ts';
import type { WriteLog } from './write-log.ts';

/** The operator on a control plane, as a process that a write log's plan may end: there is always another. */
export interface RestartedOperator {
  /** The one that leads now. One that was ended is waited for, and the next takes its place. */
  present(): Promise<OperatorProcess>;
  /**
   * Ends the one that leads, as a node that fails does; the next has its turn with {@link RestartedOperator.present}.
   */
  kill(): void;
  /** Returns the last log lines of processes that ended unexpectedly since the last query. */
  unplanned(): readonly string[];
  end(): Promise<void>;
}

/** Options of the operators. */
export interface OperatorSupplyOptions {
  readonly plane: ControlPlane;
  /** As the operator's ServiceAccount. */
  readonly access: InCluster;
  readonly api: RestartedApi;
  readonly log: WriteLog;
  readonly epochs: EpochWatch;
}

interface Started {
  readonly process: OperatorProcess;
  readonly isCrashed: () => boolean;
  readonly hasEnded: () => boolean;
  crash(): void;
  /** Lets it begin: until then it is frozen, and what it has asked is held. */
  release(): void;
  end(): Promise<void>;
}

/** Starts it; every process reaches the API server and the management port through proxies of its own. */
export async function startRestartedOperator(options: OperatorSupplyOptions): Promise<RestartedOperator> {
  const supply = createSupply(() => start(options));
  let serving = await supply.take();
  serving.release();
  let replacing: Promise<void> | undefined;

  let unplanned: string[] = [];

  async function replace(): Promise<void> {
    if (!serving.isCrashed()) unplanned.push(`I11 the operator ended: ${serving.process.lines.slice(-5).join('; ')}`);
    await serving.end();
    // As after a Lease has run out, only sooner.
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${operatorNamespace}/leases/boxgate-operator`;
    await eventually('the Lease of the one before is gone', async () => {
      const { status } = await options.plane.call({ method: 'DELETE', path: lease });
      return status === 200 || status === 404;
    });
    serving = await supply.take();
    serving.release();
    replacing = undefined;
  }

  return {
    async present() {
      if (serving.isCrashed() || serving.hasEnded()) await (replacing ??= replace());
      return serving.process;
    },
    kill: () => serving.crash(),
    unplanned() {
      const told = unplanned;
      unplanned = [];
      return told;
    },
    async end() {
      await serving.end();
      await (await supply.rest()).end();
    },
  };
}

async function start({ plane, access, api, log, epochs }: OperatorSupplyOptions): Promise<Started> {
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
  let hasEnded = false;
  void running.ended.then(() => (hasEnded = true));
  running.signal('SIGSTOP');
  return {
    process: running,
    isCrashed: () => isCrashed,
    hasEnded: () => hasEnded,
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
