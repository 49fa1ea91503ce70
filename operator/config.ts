import { isIP } from 'node:net';
import {
  reading,
  type Environment,
  type EnvironmentReader,
  isLoopback,
  isPlainUrl,
  readClusterDomain,
  readManagementKeys,
  readPublicUrl,
} from '../program/environment.ts';
import { logLevels, type LogLevel } from '../program/log.ts';
import { Secret } from '../api/client/secret.ts';

/** The settings of `boxgate operator`, each from one variable of the environment (docs/reference/configuration.md). */
export interface OperatorConfig {
  /** BOXGATE_MANAGEMENT_URL: URL of the API's management port, without a trailing slash. */
  readonly managementUrl: string;
  /** BOXGATE_MANAGEMENT_CA_FILE: file of the authorities (PEM) for an https URL; undefined: those of Node.js. */
  readonly managementCaFile: string | undefined;
  /** BOXGATE_MANAGEMENT_KEYS; only the first one is used. */
  readonly managementKey: Secret;
  /** BOXGATE_DIGEST_KEY: 32 bytes in base64. */
  readonly digestKey: Secret;
  /** BOXGATE_PUBLIC_URL. */
  readonly publicUrl: string;
  /** BOXGATE_PUBLIC_TLS: true if the API's public port serves TLS. */
  readonly publicTls: boolean;
  /** BOXGATE_CLUSTER_DOMAIN: the domain of the cluster's Services. */
  readonly clusterDomain: string;
  /** BOXGATE_CLUSTER_ID; undefined: the uid of the namespace kube-system. */
  readonly clusterId: string | undefined;
  /** BOXGATE_ADOPT_CLUSTER: the older cluster whose rows and boxes this one takes over. */
  readonly adoptCluster: string | undefined;
  /** BOXGATE_NAMESPACE: namespace of the operator and of its Lease. */
  readonly namespace: string;
  /** BOXGATE_POD_UID: processes of a pod follow one another, so that the next one takes over the Lease immediately. */
  readonly podUid: string | undefined;
  /** BOXGATE_SERVICE_ACCOUNT: the operator's ServiceAccount in that namespace. */
  readonly serviceAccount: string;
  /** KUBECONFIG, or the access that every pod has. */
  readonly access: ClusterAccess;
  /** BOXGATE_HOST and BOXGATE_HEALTH_PORT (0: any free one): probes and metrics. */
  readonly host: string;
  readonly healthPort: number;
  /** BOXGATE_LEASE_NAME. */
  readonly leaseName: string;
  /** BOXGATE_LEASE_SECONDS: time after the last renewal in which no other replica leads. */
  readonly leaseSeconds: number;
  /** BOXGATE_SWEEP_SECONDS: time between two checks of everything, in the cluster's cache and in the database. */
  readonly sweepSeconds: number;
  /** BOXGATE_USAGE_SECONDS: time between two reads of the usage of a box's clients. */
  readonly usageSeconds: number;
  /** BOXGATE_HOLD_SECONDS: time that a deleted object waits for an API that cannot be reached. */
  readonly holdSeconds: number;
  /** BOXGATE_RELIST_SECONDS: time between two lists of a kind from the API server. */
  readonly relistSeconds: number;
  /** BOXGATE_LOG_LEVEL. */
  readonly logLevel: LogLevel;
  /** BOXGATE_PARENT_PIPE: a file descriptor whose end means that the parent process has ended. */
  readonly parentPipe: number | undefined;
}

/** Access to the cluster: a configuration file, or the address and credentials that every pod is given. */
export type ClusterAccess = { /** KUBECONFIG: path of the file. */ readonly kubeconfig: string } | PodAccess;

/** Access to the API server that every pod is given (Kubernetes: Accessing the API from a Pod). */
export interface PodAccess {
  /** KUBERNETES_SERVICE_HOST (IPv6 without brackets) and KUBERNETES_SERVICE_PORT: the API server. */
  readonly host: string;
  readonly port: number;
  /** BOXGATE_SERVICE_ACCOUNT_FOLDER: folder of the files `token` and `ca.crt`. */
  readonly accountFolder: string;
}

/** Reads the settings of the operator. Throws ConfigError with all mistakes; its messages never show a value. */
export function readOperatorConfig(environment: Environment): OperatorConfig {
  return reading(environment, (read) => ({
    ...readInstallation(read),
    namespace: readNamespace(read),
    podUid: optional(read.text('BOXGATE_POD_UID', '', isUid, 'must be the uid of the pod')),
    serviceAccount: read.text(
      'BOXGATE_SERVICE_ACCOUNT',
      'boxgate-operator',
      isName,
      'must be the name of a ServiceAccount',
    ),
    access: accessOf(read),
    host: read.text('BOXGATE_HOST', '0.0.0.0', (value) => isIP(value) > 0, 'must be an IP address, such as 127.0.0.1'),
    healthPort: read.integer('BOXGATE_HEALTH_PORT', 8082, 0, 65_535),
    leaseName: read.text('BOXGATE_LEASE_NAME', 'boxgate-operator', isName, 'must be a name of a Kubernetes object'),
    leaseSeconds: read.integer('BOXGATE_LEASE_SECONDS', 15, 2, 300),
    sweepSeconds: read.integer('BOXGATE_SWEEP_SECONDS', 45, 1, 3_600),
    usageSeconds: read.integer('BOXGATE_USAGE_SECONDS', 3_600, 1, 86_400),
    holdSeconds: read.integer('BOXGATE_HOLD_SECONDS', 60, 1, 600),
    relistSeconds: read.integer('BOXGATE_RELIST_SECONDS', 300, 1, 86_400),
    logLevel: read.word('BOXGATE_LOG_LEVEL', 'info', logLevels),
    parentPipe: read.optionalInteger('BOXGATE_PARENT_PIPE', 3, 1024),
  }));
}

/** Reads the settings that the operator shares with the API. */
function readInstallation(read: EnvironmentReader) {
  const managementUrl =
    'must be the https URL of the management port, such as https://boxgate-management.boxgate-system.svc:8081; ' +
    'http is for loopback addresses';
  const digestKey = 'must be 32 random bytes in base64 (openssl rand -base64 32)';
  const clusterId = 'must be 1 to 128 letters, digits, dots, underscores or dashes';
  return {
    managementUrl: read.url('BOXGATE_MANAGEMENT_URL', isManagementUrl, managementUrl).href.replace(/\/+$/, ''),
    managementCaFile: optional(
      read.text('BOXGATE_MANAGEMENT_CA_FILE', '', isFileOrNone, 'must be the absolute path of one file'),
    ),
    managementKey: new Secret(readManagementKeys(read)[0] ?? ''),
    digestKey: new Secret(read.requiredText('BOXGATE_DIGEST_KEY', isDigestKey, digestKey)),
    publicUrl: readPublicUrl(read),
    publicTls: read.flag('BOXGATE_PUBLIC_TLS'),
    clusterDomain: readClusterDomain(read),
    clusterId: optional(read.text('BOXGATE_CLUSTER_ID', '', isUid, clusterId)),
    adoptCluster: optional(read.text('BOXGATE_ADOPT_CLUSTER', '', isUid, clusterId)),
  };
}

/** Reads only the access to the cluster, for commands that need nothing else. Throws ConfigError. */
export function readClusterAccess(environment: Environment): ClusterAccess {
  return reading(environment, accessOf);
}

/**
 * Reads the settings of an uninstallation: the access to the cluster, and the operator's namespace. Throws ConfigError.
 */
export function readUninstallConfig(environment: Environment): Pick<OperatorConfig, 'access' | 'namespace'> {
  return reading(environment, (read) => ({ access: accessOf(read), namespace: readNamespace(read) }));
}

function readNamespace(read: EnvironmentReader): string {
  return read.requiredText('BOXGATE_NAMESPACE', isName, 'must be the namespace that the operator runs in');
}

function accessOf(read: EnvironmentReader): ClusterAccess {
  const kubeconfig = read.text('KUBECONFIG', '', isOnePath, 'must be the path of one file');
  const isHostOrNone = (text: string): boolean => text === '' || isHost(text);
  const host = read.text('KUBERNETES_SERVICE_HOST', '', isHostOrNone, 'must be an IP address or the name of a host');
  const port = read.integer('KUBERNETES_SERVICE_PORT', 443, 1, 65_535);
  const accountFolder = read.text(
    'BOXGATE_SERVICE_ACCOUNT_FOLDER',
    '/var/run/secrets/kubernetes.io/serviceaccount',
    isOnePath,
    'must be the path of one folder',
  );
  if (kubeconfig !== '') return { kubeconfig };
  if (host === '') read.wrong('KUBERNETES_SERVICE_HOST', 'is missing: every pod has it; elsewhere set KUBECONFIG');
  return { host, port, accountFolder };
}

function optional(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** Checks for a DNS label in lower case, such as the name of a Namespace (RFC 1123). */
export function isName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}

function isHost(text: string): boolean {
  return isIP(text) > 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text);
}

function isOnePath(text: string): boolean {
  return !/[\0\n]/.test(text);
}

function isFileOrNone(text: string): boolean {
  return text === '' || (text.startsWith('/') && isOnePath(text));
}

/** Declared secrets pass this port: only within one machine or pod may they pass in the clear. */
function isManagementUrl(url: URL): boolean {
  return isPlainUrl(url) && (url.protocol === 'https:' || isLoopbackHost(url.hostname));
}

function isLoopbackHost(hostname: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return address === 'localhost' || (isIP(address) > 0 && isLoopback(address));
}

function isDigestKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}

function isUid(text: string): boolean {
  return /^[A-Za-z0-9._-]{0,128}$/.test(text);
}
