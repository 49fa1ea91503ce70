import { isObject } from '../../crds/path.ts';
import { type Kind, KINDS } from '../../crds/kind.ts';
import type { Environment } from '../../program/environment.ts';
import { controlPlane, type ControlPlane, type PodAccount } from '../support/cluster/control-plane.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { startApiProcess, type ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/eventually.ts';
import { ownPort } from '../support/own-port.ts';
import {
  startOperator,
  startOperatorProcess,
  type OperatorProcess,
  type TestOperator,
} from '../support/operator-process.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres.ts';
import { unthrottled } from '../support/unthrottled.ts';
import { bindSecrets, installOperator } from './install-operator.ts';
import { removeObjects } from './remove-objects.ts';

/** The addresses and the management key of the API of a rig. */
type RigApi = Pick<ApiProcess, 'url' | 'managementUrl' | 'managementKey'>;

/**
 * A cluster with our custom resources and the operator's rights, an API on a database of its own beside it, and
 * operators under the operator's own ServiceAccount. One at a time on a control plane: its operators see every
 * namespace.
 */
export interface OperatorRig<Api extends RigApi = TestApi> {
  readonly plane: ControlPlane;
  readonly database: TestDatabase;
  readonly api: Api;
  /** ServiceAccount files of the operator's pod. */
  readonly account: PodAccount;
  /** Starts one more operator, in this process. */
  operator(environment?: Environment): Promise<TestOperator>;
  /** Starts one more operator, in a process of its own, which a test may end. */
  operatorProcess(environment?: Environment): Promise<OperatorProcess>;
  /** A new namespace in which the operator may hold Secrets, or, without `secrets`, may not. */
  box(options?: { readonly secrets: boolean }): Promise<string>;
  /** Makes an object as an admin does, or changes it: its whole spec. Throws what the API server says against it. */
  put(kind: Kind, box: string, name: string, spec: object, metadata?: object): Promise<void>;
  /** Asks for the end of an object; does not wait for it. */
  remove(kind: Kind, box: string, name: string): Promise<void>;
  /** The object as it is now, or undefined. */
  find(kind: Kind, box: string, name: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** `True/Ready` of an object's condition as it is now. */
  condition(kind: Kind, box: string, name: string, type?: string): Promise<string>;
  /** Waits until an object is Ready in its present generation. */
  ready(kind: Kind, box: string, name: string, within?: number): Promise<void>;
  /** Status of a token request with a secret. */
  token(box: string, id: string, secret: string): Promise<number>;
  /** Ends every operator and the API, drops the database, and takes the objects it made out of the cluster. */
  stop(): Promise<void>;
}

/** A rig whose API is a process of its own, which a test may end: `api` is the one that runs now. */
export interface ProcessRig extends OperatorRig<ApiProcess> {
  /** Starts the API again on its ports, after it was ended. */
  restartApi(): Promise<void>;
}

/**
 * Starts a rig on the control plane that the test files of this process share, or on one of a test's own. Its API holds
 * nobody back who fails often: how often a test asks before a client is live is a matter of the machine. `isPublic`:
 * its issuers are addresses at which it answers. `placed`: its boxes are on the databases of these settings.
 */
export async function startOperatorRig(
  own?: ControlPlane,
  isPublic = false,
  placed?: { readonly home: TestDatabase; readonly environment: Environment },
): Promise<OperatorRig> {
  const [plane, database] = await Promise.all([own ?? controlPlane(), placed?.home ?? freshDatabase()]);
  const ports = await ownPorts();
  const url = isPublic ? { BOXGATE_PUBLIC_URL: `http://127.0.0.1:${ports.BOXGATE_PORT}` } : {};
  const [account, api] = await Promise.all([
    installOperator(plane),
    startApi({ database, environment: { ...unthrottled, ...ports, ...url, ...placed?.environment } }),
  ]);
  return rigOver(
    { plane, database, account },
    () => api,
    () => api.stop(),
  );
}

/** Starts a rig with an API that a test may end; on a new database, or on one of the test's own. */
export async function startProcessRig(own?: ControlPlane, ownDatabase?: TestDatabase): Promise<ProcessRig> {
  const [plane, database] = await Promise.all([own ?? controlPlane(), ownDatabase ?? freshDatabase()]);
  const settings = { ...unthrottled, ...(await ownPorts()) };
  const [account, first] = await Promise.all([installOperator(plane), startApiProcess(database.apiUrl, settings)]);
  let api = first;
  const rig = rigOver(
    { plane, database, account },
    () => api,
    () => api.end('SIGKILL'),
  );
  return Object.assign(rig, {
    async restartApi() {
      const key = { BOXGATE_MANAGEMENT_KEYS: first.managementKey };
      api = await startApiProcess(database.apiUrl, { ...settings, ...key });
    },
  });
}

async function ownPorts() {
  return { BOXGATE_PORT: String(await ownPort()), BOXGATE_MANAGEMENT_PORT: String(await ownPort()) };
}

function rigOver<Api extends RigApi>(
  { plane, database, account }: Pick<OperatorRig, 'plane' | 'database' | 'account'>,
  api: () => Api,
  stopApi: () => Promise<unknown>,
): OperatorRig<Api> {
  const operators: TestOperator[] = [];
  const processes: OperatorProcess[] = [];
  const rig: OperatorRig<Api> = {
    plane,
    database,
    account,
    get api() {
      return api();
    },
    async operator(environment) {
      const started = await startOperator({ access: account.access, api: api() }, environment);
      operators.push(started);
      return started;
    },
    async operatorProcess(environment) {
      const started = await startOperatorProcess({ access: account.access, api: api() }, environment);
      processes.push(started);
      return started;
    },
    async box({ secrets } = { secrets: true }) {
      const name = await plane.namespace('box');
      if (secrets) await bindSecrets(plane, name);
      return name;
    },
    async put(kind, box, name, spec, metadata = {}) {
      const path = `${pathOf(kind, box, name)}?fieldManager=admin&force=true`;
      const body = { apiVersion: 'boxgate.dev/v1', kind, metadata: { ...metadata, name }, spec };
      const answer = await plane.call({ method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml' });
      if (answer.status > 299) throw new Error(JSON.stringify(answer.body));
    },
    async remove(kind, box, name) {
      await plane.call({ method: 'DELETE', path: pathOf(kind, box, name) });
    },
    async find(kind, box, name) {
      const { status, body } = await plane.call({ path: pathOf(kind, box, name) });
      return status === 200 && isObject(body) ? body : undefined;
    },
    async condition(kind, box, name, type = 'Ready') {
      const found = conditionOf(await rig.find(kind, box, name), type);
      return `${String(found?.['status'])}/${String(found?.['reason'])}`;
    },
    async ready(kind, box, name, within) {
      await eventually(`${box}/${name} is Ready`, async () => isReady(await rig.find(kind, box, name)), within);
    },
    async token(box, id, secret) {
      const response = await fetch(`${api().url}/boxes/${box}/auth/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ grant_type: 'client_credentials', client_id: id, client_secret: secret }),
        signal: AbortSignal.timeout(60_000),
      });
      await response.arrayBuffer();
      return response.status;
    },
    async stop() {
      for (const operator of processes) operator.signal('SIGCONT');
      await Promise.all([
        ...operators.map((operator) => operator.stop()),
        ...processes.map((operator) => operator.end('SIGKILL')),
      ]);
      await stopApi();
      await Promise.all([database.drop(), removeObjects(plane)]);
    },
  };
  return rig;
}

function pathOf(kind: Kind, box: string, name?: string): string {
  const path = `/apis/boxgate.dev/v1/namespaces/${box}/${KINDS[kind].plural}`;
  return name === undefined ? path : `${path}/${name}`;
}

function conditionOf(object: Readonly<Record<string, unknown>> | undefined, type: string) {
  const status = isObject(object?.['status']) ? object['status'] : {};
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isObject) : [];
  return conditions.find((one) => one['type'] === type);
}

function isReady(object: Readonly<Record<string, unknown>> | undefined): boolean {
  const generation = isObject(object?.['metadata']) ? object['metadata']['generation'] : undefined;
  const ready = conditionOf(object, 'Ready');
  return ready?.['status'] === 'True' && ready['observedGeneration'] === generation;
}
