import { startControlPlane, type ControlPlane } from '../../support/cluster/control-plane.ts';
import { startApiProcess, type ApiProcess } from '../../support/api-process.ts';
import { startFaultProxy, type FaultProxy } from '../../support/fault-proxy.ts';
import { startOperatorProcess, type OperatorProcess } from '../../support/operator-process.ts';
import { ownPort } from '../../support/own-port.ts';
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts';
import { unthrottled } from '../../support/unthrottled.ts';
import { installOperator } from '../install-operator.ts';
import { keepRunning, type KeptProcess } from './kept-process.ts';
import { startReplicaService } from './replica-service.ts';

/** One of the two replicas of the API. */
export interface Replica extends KeptProcess<ApiProcess> {
  readonly url: string;
}

/**
 * A whole installation: a cluster, a database, two replicas of the API and two operators, each started again when it
 * ends.
 */
export interface HourStage {
  readonly plane: ControlPlane;
  readonly database: TestDatabase;
  readonly replicas: readonly [Replica, Replica];
  readonly operators: readonly [KeptProcess<OperatorProcess>, KeptProcess<OperatorProcess>];
  /** Between the operators and the API server. */
  readonly proxy: FaultProxy;
  /** Between the operators and the management ports of the replicas. */
  readonly management: FaultProxy;
  stop(): Promise<void>;
}

/** Public URL of the API; a box's issuer is below it. */
export const publicUrl = 'http://boxgate.test';

/**
 * A leader that was killed is replaced soon, and a sweep comes often: an hour is compressed. The outages of a slow
 * machine may last longer than a deletion usually waits for the API, so it waits longer here: the secret of a
 * deleted Client is never accepted.
 */
const quick = {
  BOXGATE_LEASE_SECONDS: '6',
  BOXGATE_SWEEP_SECONDS: '5',
  BOXGATE_HOLD_SECONDS: '600',
  BOXGATE_PUBLIC_URL: publicUrl,
} as const;

/** Starts the installation on a control plane and a database of its own. */
export async function startHourStage(): Promise<HourStage> {
  const [plane, database] = await Promise.all([startControlPlane(), freshDatabase()]);
  const account = await installOperator(plane);
  const [first, ports] = await startReplica(database);
  const [second, otherPorts] = await startReplica(database, first.now()?.managementKey);
  const service = await startReplicaService([ports.management, otherPorts.management]);
  const management = await startFaultProxy(service.port);
  const proxy = await startFaultProxy(Number(new URL(plane.url).port));
  const api = {
    url: publicUrl,
    managementUrl: `http://127.0.0.1:${String(management.port)}`,
    managementKey: first.now()?.managementKey ?? '',
  };
  const startOperator = (pod: string): Promise<KeptProcess<OperatorProcess>> => {
    const environment = { ...quick, KUBERNETES_SERVICE_PORT: String(proxy.port), BOXGATE_POD_UID: pod };
    return keepRunning(() => startOperatorProcess({ access: account.access, api }, environment));
  };
  const operators = [await startOperator('one'), await startOperator('other')] as const;
  const replicas = [first, second] as const;
  return {
    ...{ plane, database, replicas, operators, proxy, management },
    async stop() {
      const ended = await Promise.allSettled([...operators, ...replicas].map((one) => one.stop()));
      await Promise.all([management.close().then(() => service.close()), proxy.close()]);
      await Promise.all([plane.stop(), database.drop()]);
      for (const one of ended) if (one.status === 'rejected') throw one.reason;
    },
  };
}

async function startReplica(
  database: TestDatabase,
  managementKey?: string,
): Promise<readonly [Replica, { readonly management: number }]> {
  const [port, management] = [await ownPort(), await ownPort()];
  let key = managementKey;
  const kept = await keepRunning(async () => {
    const started = await startApiProcess(database.apiUrl, {
      ...unthrottled,
      BOXGATE_PUBLIC_URL: publicUrl,
      BOXGATE_PORT: String(port),
      BOXGATE_MANAGEMENT_PORT: String(management),
      ...(key === undefined ? {} : { BOXGATE_MANAGEMENT_KEYS: key }),
    });
    key = started.managementKey;
    return started;
  });
  return [{ ...kept, url: `http://127.0.0.1:${String(port)}` }, { management }];
}
