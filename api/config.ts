import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import {
  databaseSuffix,
  reading,
  isLoopback,
  MOST_ENCRYPTION_KEYS,
  readClusterDomain,
  readManagementKeys,
  readPublicUrl,
} from '../program/environment.ts';
import type { Environment, EnvironmentReader } from '../program/environment.ts';
import { logLevels } from '../program/log.ts';
import type { LogLevel } from '../program/log.ts';
import { DATABASE_NAME } from '../crds/kind.ts';
import { Secret } from './client/secret.ts';
import { resourcesInMemory } from './box/loaded-boxes.ts';

/** The settings of `boxgate api`, each from one variable of the environment (docs/reference/configuration.md). */
export interface ApiConfig {
  /** BOXGATE_DATABASES: the databases that boxes are placed on; the first is home, which has the directory of boxes. */
  readonly databases: Databases;
  /** BOXGATE_DEFAULT_DATABASE: the database of a new box whose Namespace names none. */
  readonly defaultDatabase: string;
  /** BOXGATE_HOST: the address that the public port listens on. */
  readonly host: string;
  /** BOXGATE_MANAGEMENT_HOST: the address that the management port listens on. */
  readonly managementHost: string;
  /** BOXGATE_TLS_FOLDER: folder with the certificate of the public port; undefined: plain HTTP. */
  readonly tlsFolder: string | undefined;
  /** BOXGATE_MANAGEMENT_TLS_FOLDER: the same for the management port; undefined only on a loopback address. */
  readonly managementTlsFolder: string | undefined;
  /** BOXGATE_PORT and BOXGATE_MANAGEMENT_PORT; 0: any free one. */
  readonly port: number;
  readonly managementPort: number;
  /** BOXGATE_MANAGEMENT_KEYS: one, or two while one is being rotated. */
  readonly managementKeys: readonly string[];
  /** BOXGATE_ENCRYPTION_KEY: 32 bytes each; the first seals, older ones still open. */
  readonly encryptionKeys: readonly [Buffer, ...Buffer[]];
  /** BOXGATE_PUBLIC_URL: the address of the public port from outside; without a slash at the end. */
  readonly publicUrl: string;
  /** BOXGATE_STANDALONE: the root serves the only box. */
  readonly standalone: boolean;
  /** BOXGATE_FOLDER: the folder of the manifests that declare the resources, as messages name it. */
  readonly folder: string | undefined;
  /** BOXGATE_CLUSTER_DOMAIN: the domain of the cluster's Services. */
  readonly clusterDomain: string;
  /** BOXGATE_TRUSTED_PROXIES: addresses and networks whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** BOXGATE_WAIT_FOR_DATABASE: a database that cannot serve at the start is waited for. */
  readonly waitForDatabase: boolean;
  /** BOXGATE_POOL_SIZE: connections to Postgres of each of the two pools. */
  readonly poolSize: number;
  /** BOXGATE_HASH_THREADS: argon2 verifications at once. */
  readonly hashThreads: number;
  /** BOXGATE_REVOCATIONS_NEED_STANDBY: an acknowledged revocation is on a synchronous standby too. */
  readonly revocationsNeedStandby: boolean;
  /** BOXGATE_FAILURES_PER_CLIENT and BOXGATE_FAILURES_PER_BOX: failed authentications a minute from one address. */
  readonly failuresPerClient: number;
  readonly failuresPerBox: number;
  /** BOXGATE_FAILURES_PER_SECRET: failures an hour at the chosen secret of one client, in all replicas. */
  readonly failuresPerSecret: number;
  /** BOXGATE_FAILURES_PER_ACCOUNT: wrong passwords in 15 minutes for one account, in all replicas. */
  readonly failuresPerAccount: number;
  /** BOXGATE_JWKS_HOSTS: `host` or `host:port`, from which the keys of clients may be fetched. */
  readonly jwksHosts: readonly string[];
  /** BOXGATE_RESOURCES_IN_MEMORY: memory of all boxes together, in clients and policies of the usual size. */
  readonly resourcesInMemory: number;
  /** BOXGATE_KEEP_ALIVE_SECONDS: time for which a connection of the public port may wait for its next request. */
  readonly keepAliveSeconds: number;
  /** BOXGATE_LINGER_SECONDS: time for which idle connections stay open when the program stops. */
  readonly lingerSeconds: number;
  /** BOXGATE_LOG_LEVEL. */
  readonly logLevel: LogLevel;
  /** BOXGATE_PARENT_PIPE: a file descriptor whose end means that the parent process has ended. */
  readonly parentPipe: number | undefined;
}

/** A Postgres that boxes are placed on. */
export interface DatabaseAddress {
  readonly name: string;
  /** BOXGATE_DATABASE_URL; for another one than home BOXGATE_DATABASE_URL_<NAME>: Postgres, as the API's role. */
  readonly url: string;
}

/** The databases of an installation; the first is home. */
export type Databases = readonly [DatabaseAddress, ...DatabaseAddress[]];

/** A database that is migrated. */
export interface MigratedDatabase {
  readonly name: string;
  /** BOXGATE_OWNER_URL; for another one than home BOXGATE_OWNER_URL_<NAME>: Postgres, as the owner of the schema. */
  readonly ownerUrl: string;
  /** The role of its BOXGATE_DATABASE_URL. */
  readonly apiRole: string;
  /** BOXGATE_CREATE_API_ROLE: the password of that role, which is created or gets it; undefined: it must exist. */
  readonly apiPassword: Secret | undefined;
}

/** The settings of `boxgate migrate`. */
export interface MigrateConfig {
  /** BOXGATE_DATABASES; the first is home. */
  readonly databases: readonly [MigratedDatabase, ...MigratedDatabase[]];
  /** BOXGATE_DATABASE_WAIT_SECONDS: time in which the database may come to be reached. */
  readonly databaseWaitSeconds: number;
  /** BOXGATE_LEAVE_NEWER_SCHEMA: a database that is newer than the release is left as it is, without an error. */
  readonly leaveNewer: boolean;
}

/** The settings of `boxgate admin reset`. */
export type ResetAdminConfig = Pick<ApiConfig, 'databases' | 'encryptionKeys' | 'revocationsNeedStandby'>;

/** Reads the settings of the API. Throws ConfigError with every mistake at once; no sentence shows a value. */
export function readApiConfig(environment: Environment): ApiConfig {
  return reading(environment, (read) => ({
    ...readPorts(read),
    ...readDatabases(read),
    host: read.text('BOXGATE_HOST', '0.0.0.0', (value) => isIP(value) > 0, ipAddress),
    tlsFolder: readFolder(read, 'BOXGATE_TLS_FOLDER'),
    ...readManagementAddress(read),
    managementKeys: readManagementKeys(read),
    encryptionKeys: readEncryptionKeys(read),
    publicUrl: readPublicUrl(read),
    standalone: read.flag('BOXGATE_STANDALONE'),
    folder: read.text('BOXGATE_FOLDER', '', () => true, '') || undefined,
    clusterDomain: readClusterDomain(read),
    trustedProxies: read.list('BOXGATE_TRUSTED_PROXIES', isNetwork, networks),
    waitForDatabase: read.flag('BOXGATE_WAIT_FOR_DATABASE', true),
    poolSize: read.integer('BOXGATE_POOL_SIZE', 4, 1, 100),
    hashThreads: read.integer('BOXGATE_HASH_THREADS', Math.max(1, availableParallelism() - 1), 1, 64),
    revocationsNeedStandby: read.flag('BOXGATE_REVOCATIONS_NEED_STANDBY'),
    failuresPerClient: read.integer('BOXGATE_FAILURES_PER_CLIENT', 20, 1, 1_000_000),
    failuresPerBox: read.integer('BOXGATE_FAILURES_PER_BOX', 100, 1, 1_000_000),
    failuresPerSecret: read.integer('BOXGATE_FAILURES_PER_SECRET', 1_000, 1, 1_000_000),
    failuresPerAccount: read.integer('BOXGATE_FAILURES_PER_ACCOUNT', 100, 1, 1_000_000),
    jwksHosts: read.list('BOXGATE_JWKS_HOSTS', isHost, hosts),
    resourcesInMemory: read.integer('BOXGATE_RESOURCES_IN_MEMORY', resourcesInMemory, 1_000, 10_000_000),
    keepAliveSeconds: read.integer('BOXGATE_KEEP_ALIVE_SECONDS', 75, 1, 3_600),
    lingerSeconds: read.integer('BOXGATE_LINGER_SECONDS', 10, 0, 300),
    logLevel: read.word('BOXGATE_LOG_LEVEL', 'info', logLevels),
    parentPipe: read.optionalInteger('BOXGATE_PARENT_PIPE', 3, 1024),
  }));
}

/** Reads the settings of `boxgate admin reset`: those of the API that it needs. Throws ConfigError. */
export function readResetAdminConfig(environment: Environment): ResetAdminConfig {
  return reading(environment, (read) => ({
    databases: readDatabases(read).databases,
    encryptionKeys: readEncryptionKeys(read),
    revocationsNeedStandby: read.flag('BOXGATE_REVOCATIONS_NEED_STANDBY'),
  }));
}

/** Reads the settings of a migration. Throws ConfigError. */
export function readMigrateConfig(environment: Environment): MigrateConfig {
  return reading(environment, (read) => {
    const createsRole = read.flag('BOXGATE_CREATE_API_ROLE');
    const [home, ...others] = databaseNames(read);
    return {
      databases: [
        readMigrated(read, home, '', createsRole),
        ...others.map((name) => readMigrated(read, name, databaseSuffix(name), createsRole)),
      ],
      databaseWaitSeconds: read.integer('BOXGATE_DATABASE_WAIT_SECONDS', 0, 0, 3_600),
      leaveNewer: read.flag('BOXGATE_LEAVE_NEWER_SCHEMA'),
    };
  });
}

/** Reads one database of a migration; `suffix` ends the names of its variables. */
function readMigrated(read: EnvironmentReader, name: string, suffix: string, createsRole: boolean): MigratedDatabase {
  const owner = read.url(`BOXGATE_OWNER_URL${suffix}`, isPostgresUrl, postgresUrl);
  const api = read.url(`BOXGATE_DATABASE_URL${suffix}`, isPostgresUrl, postgresUrl);
  if (owner.username !== '' && owner.username === api.username) {
    const must = `must name a role of the API's own, not the owner of BOXGATE_OWNER_URL${suffix}`;
    read.wrong(`BOXGATE_DATABASE_URL${suffix}`, must);
  }
  if (createsRole && api.password === '') {
    const must = 'must have a password, which BOXGATE_CREATE_API_ROLE gives to its role';
    read.wrong(`BOXGATE_DATABASE_URL${suffix}`, must);
  }
  return {
    name,
    ownerUrl: owner.href,
    apiRole: decodeURIComponent(api.username),
    apiPassword: createsRole ? new Secret(decodeURIComponent(api.password)) : undefined,
  };
}

const ipAddress = 'must be an IP address, such as 127.0.0.1';
const postgresUrl = 'must be a URL such as postgres://user:password@host:5432/database';
const encryptionKeys =
  'must hold 32 random bytes in base64 (openssl rand -base64 32), older keys behind it with commas';
const hosts = 'must hold hosts in lower case, such as keys.example.com or keys.example.com:8443, with commas between';
const networks = 'must hold addresses or networks, such as 10.42.7.0/28, with commas between';

/** Pattern of the name of a database. */
const databaseName = new RegExp(DATABASE_NAME);

/** Name of the only database of an installation that names none. */
const home = 'home';

const databaseList =
  'must hold different names of databases, each up to 32 of a to z, 0 to 9 and hyphens, such as home,eu, the home database first';

function databaseNames(read: EnvironmentReader): readonly [string, ...string[]] {
  const names = read.list('BOXGATE_DATABASES', (name) => databaseName.test(name), databaseList);
  if (new Set(names).size < names.length) read.wrong('BOXGATE_DATABASES', databaseList);
  const [first = home, ...others] = names;
  return [first, ...others];
}

function readDatabases(read: EnvironmentReader): Pick<ApiConfig, 'databases' | 'defaultDatabase'> {
  const [first, ...others] = databaseNames(read);
  const address = (name: string, suffix: string): DatabaseAddress => ({
    name,
    url: read.url(`BOXGATE_DATABASE_URL${suffix}`, isPostgresUrl, postgresUrl).href,
  });
  return {
    databases: [address(first, ''), ...others.map((name) => address(name, databaseSuffix(name)))],
    defaultDatabase: read.word('BOXGATE_DEFAULT_DATABASE', first, [first, ...others]),
  };
}

function readPorts(read: EnvironmentReader): Pick<ApiConfig, 'port' | 'managementPort'> {
  const port = read.integer('BOXGATE_PORT', 8080, 0, 65_535);
  const managementPort = read.integer('BOXGATE_MANAGEMENT_PORT', 8081, 0, 65_535);
  if (port !== 0 && port === managementPort) read.wrong('BOXGATE_MANAGEMENT_PORT', 'must differ from BOXGATE_PORT');
  return { port, managementPort };
}

function readManagementAddress(read: EnvironmentReader): Pick<ApiConfig, 'managementHost' | 'managementTlsFolder'> {
  const managementHost = read.text('BOXGATE_MANAGEMENT_HOST', '127.0.0.1', (value) => isIP(value) > 0, ipAddress);
  const managementTlsFolder = readFolder(read, 'BOXGATE_MANAGEMENT_TLS_FOLDER');
  if (managementTlsFolder === undefined && isIP(managementHost) > 0 && !isLoopback(managementHost)) {
    const why = 'unless BOXGATE_MANAGEMENT_HOST is a loopback address, because declared secrets pass that port';
    read.wrong('BOXGATE_MANAGEMENT_TLS_FOLDER', `must name a folder with tls.crt and tls.key, ${why}`);
  }
  return { managementHost, managementTlsFolder };
}

function readFolder(read: EnvironmentReader, name: string): string | undefined {
  const isFolder = (text: string): boolean => text === '' || (text.startsWith('/') && !/[\0\n]/.test(text));
  const folder = read.text(name, '', isFolder, 'must be the absolute path of a folder with tls.crt and tls.key');
  return folder === '' ? undefined : folder;
}

const noKey = Buffer.alloc(32);

function readEncryptionKeys(read: EnvironmentReader): readonly [Buffer, ...Buffer[]] {
  const texts = read.requiredList('BOXGATE_ENCRYPTION_KEY', MOST_ENCRYPTION_KEYS, isEncryptionKey, encryptionKeys);
  const [first = noKey, ...others] = texts.map((key) => Buffer.from(key, 'base64'));
  return [first, ...others];
}

function isPostgresUrl(url: URL): boolean {
  return /^postgres(ql)?:$/.test(url.protocol) && url.username !== '' && isEncoded(url.username + url.password);
}

function isEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  return (
    isIP(address) > 0 && more.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
  );
}

/** Checks for a host as written in a URL: without the port of https. */
function isHost(text: string): boolean {
  return URL.parse(`https://${text}`)?.host === text;
}

function isEncryptionKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}
