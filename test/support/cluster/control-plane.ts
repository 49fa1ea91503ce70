import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PodAccess } from '../../../operator/config.ts';
import { ownPort } from '../own-port.ts';
import { familyOf, signalAll } from '../processes.ts';
import { apiCall, type ApiAnswer, type ApiCall } from './api-call.ts';
import { findControllerManager, findPrograms } from '../../../tools/envtest/find-programs.ts';
import { startGuarded, type Guarded } from './guarded.ts';
import { scratchFolder } from '../scratch-folder.ts';

/** Cluster and ServiceAccount files of a pod, and a kubeconfig that refers to the same files. */
export interface PodAccount {
  readonly access: PodAccess;
  /** Paths of the files in the folder. */
  readonly tokenFile: string;
  readonly certificate: string;
  readonly kubeconfig: string;
}

/** A real Kubernetes API: etcd and kube-apiserver on free loopback ports, empty at first, with RBAC. */
export interface ControlPlane {
  readonly url: string;
  /** Path of the kubeconfig of a user who may do everything. */
  readonly kubeconfig: string;
  /** Path of the certificate by which the API server is known. */
  readonly certificate: string;
  /** A call as that user; throws when the API server cannot be reached, and answers whatever it says. */
  call(call: ApiCall): Promise<ApiAnswer>;
  /** A token of a ServiceAccount, made by the API server; at least 600 seconds. */
  token(namespace: string, serviceAccount: string, seconds?: number): Promise<string>;
  /** A new folder as a pod of a ServiceAccount has it, with a token of its own. */
  accountFor(namespace: string, serviceAccount: string): Promise<PodAccount>;
  /** A new namespace, with the API server's name for it. */
  namespace(prefix: string): Promise<string>;
  /** SIGSTOP, SIGCONT or SIGKILL to the API server. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): Promise<void>;
  /**
   * Starts kube-controller-manager with these controllers, once. Without it no namespace that is deleted ever goes, nor
   * what belonged to an object that is gone. It begins its work some seconds later.
   */
  startControllers(names: readonly string[]): void;
  /**
   * Starts the API server again on its port, after SIGKILL, and waits until it is ready. With another certificate it is
   * known by nothing that it was known by before; the new one is in the same file.
   */
  restart(options?: { readonly certificate: 'new' }): Promise<void>;
  stop(): Promise<void>;
}

let shared: Promise<ControlPlane> | undefined;

/**
 * The control plane that the test files of this process share: it is started when first asked for, and ends with the
 * process. A test makes its own namespace in it, and does not end it.
 */
export function controlPlane(): Promise<ControlPlane> {
  shared ??= startControlPlane();
  return shared;
}

/** Starts a control plane of a test's own, which it may break; `flags` are added to those of kube-apiserver. */
export async function startControlPlane(flags: readonly string[] = []): Promise<ControlPlane> {
  const programs = findPrograms();
  const folder = await scratchFolder('boxgate-envtest-');
  const adminToken = randomBytes(16).toString('hex');
  const [port, etcdPort, peerPort] = [await ownPort(), await ownPort(), await ownPort()];
  await writeKeys(folder, adminToken);

  const start = (name: 'etcd' | 'kube-apiserver' | 'kube-controller-manager', options: readonly string[]): Guarded => {
    const program = name === 'kube-controller-manager' ? findControllerManager() : programs[name];
    return startGuarded(folder, path.join(folder, `${name}.log`), [program, ...options]);
  };
  const etcd = start('etcd', etcdOptions(folder, etcdPort, peerPort));
  const apiServerFlags = [...apiServerOptions(folder, port, etcdPort), ...flags];
  let apiServer = start('kube-apiserver', apiServerFlags);
  let controllers: Guarded | undefined;

  const url = `https://127.0.0.1:${String(port)}`;
  const certificate = path.join(folder, 'certificates', 'apiserver.crt');
  const call = (one: ApiCall): Promise<ApiAnswer> => apiCall(url, certificate, adminToken, one);
  const kubeconfig = path.join(folder, 'admin.kubeconfig');
  const ready = (): Promise<void> => untilReady(call, [etcd, apiServer], folder);
  try {
    await ready();
  } catch (error) {
    signalAll(
      [etcd, apiServer].flatMap(({ pid }) => familyOf(pid)),
      'SIGKILL',
    );
    throw error;
  }
  await writeFile(kubeconfig, kubeconfigText(url, certificate, { token: adminToken }));

  const plane: ControlPlane = {
    url,
    kubeconfig,
    certificate,
    call,
    async token(namespace, serviceAccount, seconds = 3600) {
      const at = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
      const { status, body } = await call({ method: 'POST', path: at, body: { spec: { expirationSeconds: seconds } } });
      const token = member(member(body, 'status'), 'token');
      if (typeof token !== 'string') throw new Error(`no token for ${serviceAccount}: ${String(status)}`);
      return token;
    },
    async accountFor(namespace, serviceAccount) {
      const own = await mkdtemp(path.join(folder, `${namespace}-${serviceAccount}-`));
      const files: PodAccount = {
        access: { host: '127.0.0.1', port, accountFolder: own },
        tokenFile: path.join(own, 'token'),
        certificate: path.join(own, 'ca.crt'),
        kubeconfig: path.join(own, 'kubeconfig'),
      };
      // Nobody renews it, as the kubelet does: longer than any run of tests.
      await writeFile(files.tokenFile, await plane.token(namespace, serviceAccount, 86_400));
      await copyFile(certificate, files.certificate);
      await writeFile(files.kubeconfig, kubeconfigText(url, files.certificate, fromFile(files.tokenFile)));
      return files;
    },
    async namespace(prefix) {
      const body = { metadata: { generateName: `${prefix}-` } };
      const made = await call({ method: 'POST', path: '/api/v1/namespaces', body });
      const name = member(member(made.body, 'metadata'), 'name');
      if (typeof name !== 'string') throw new Error(`no namespace was made: ${String(made.status)}`);
      return name;
    },
    startControllers(names) {
      controllers ??= start('kube-controller-manager', controllerOptions(folder, kubeconfig, names));
    },
    async signal(signal) {
      signalAll(familyOf(apiServer.pid).slice(1, 2), signal);
      if (signal === 'SIGKILL') await apiServer.ended;
    },
    async restart(options) {
      if (options?.certificate === 'new') await rm(path.dirname(certificate), { recursive: true });
      apiServer = start('kube-apiserver', apiServerFlags);
      await ready();
    },
    async stop() {
      const running = [apiServer, etcd, ...(controllers === undefined ? [] : [controllers])];
      signalAll(
        running.flatMap(({ pid }) => familyOf(pid)),
        'SIGKILL',
      );
      await Promise.all(running.map(({ ended }) => ended));
      await rm(folder, { recursive: true, force: true });
    },
  };
  return plane;
}

function etcdOptions(folder: string, port: number, peerPort: number): readonly string[] {
  const [client, peer] = [`http://127.0.0.1:${String(port)}`, `http://127.0.0.1:${String(peerPort)}`];
  return [
    ...['--data-dir', path.join(folder, 'etcd'), '--unsafe-no-fsync'],
    // As kubeadm sets it: bookmarks of a quiet kind have the version that everything has. With 1s the notifications
    // alone took two thirds of the processor time of an idle control plane.
    ...['--watch-progress-notify-interval', '5s'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ];
}

/** The certificate is made by the API server itself. */
function apiServerOptions(folder: string, port: number, etcdPort: number): readonly string[] {
  return [
    ...['--bind-address', '127.0.0.1', '--advertise-address', '127.0.0.1', '--secure-port', String(port)],
    ...['--etcd-servers', `http://127.0.0.1:${String(etcdPort)}`, '--endpoint-reconciler-type', 'none'],
    ...['--cert-dir', path.join(folder, 'certificates'), '--token-auth-file', path.join(folder, 'tokens.csv')],
    // Nobody makes the ServiceAccount that each pod would need; there are no pods.
    ...['--authorization-mode', 'RBAC', '--disable-admission-plugins', 'ServiceAccount'],
    ...['--service-cluster-ip-range', '10.96.0.0/16'],
    ...['--service-account-issuer', 'https://kubernetes.default.svc.cluster.local'],
    ...['--service-account-key-file', path.join(folder, 'service-accounts.key')],
    ...['--service-account-signing-key-file', path.join(folder, 'service-accounts.key')],
  ];
}

function controllerOptions(folder: string, kubeconfig: string, names: readonly string[]): readonly string[] {
  return [
    ...['--kubeconfig', kubeconfig, '--leader-elect=false', '--secure-port', '0', '--controllers', names.join()],
    ...['--service-account-private-key-file', path.join(folder, 'service-accounts.key')],
    ...['--root-ca-file', path.join(folder, 'certificates', 'apiserver.crt')],
  ];
}

async function writeKeys(folder: string, adminToken: string): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(path.join(folder, 'service-accounts.key'), key, { mode: 0o600 });
  await writeFile(path.join(folder, 'tokens.csv'), `${adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });
}

/** As in a pod: @kubernetes/client-node knows no other form of a token that is read again when it changes. */
function fromFile(tokenFile: string): object {
  return { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
}

function kubeconfigText(url: string, certificate: string, user: object): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'envtest', cluster: { server: url, 'certificate-authority': certificate } }],
    users: [{ name: 'user', user }],
    contexts: [{ name: 'envtest', context: { cluster: 'envtest', user: 'user' } }],
    'current-context': 'envtest',
  });
}

const startingTime = 120_000;

/** Waits until the API server says that it is ready; throws with the ends of the logs when a program has ended. */
async function untilReady(
  call: (one: ApiCall) => Promise<ApiAnswer>,
  running: readonly Guarded[],
  folder: string,
): Promise<void> {
  const deadline = performance.now() + startingTime;
  for (;;) {
    const answer = await call({ path: '/readyz' }).catch(() => undefined);
    if (answer?.status === 200) return;
    if (running.some(({ hasEnded }) => hasEnded()) || performance.now() > deadline)
      throw new Error(`no Kubernetes API: ${logs(folder)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function logs(folder: string): string {
  return ['etcd.log', 'kube-apiserver.log'].map((name) => readFileSync(path.join(folder, name)).subarray(-2000)).join();
}

/** A member of something that may be an object. */
function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
