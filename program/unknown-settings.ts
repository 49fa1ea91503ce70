import { ConfigError } from './environment.ts';
import type { Environment } from './environment.ts';
import { wordHint } from '../crds/did-you-mean.ts';

/** Every setting that one of the programs reads from the environment, sorted. */
export const SETTING_NAMES: readonly string[] = [
  'BOXGATE_ADOPT_CLUSTER',
  'BOXGATE_BUNDLED_DATABASE_HOST',
  'BOXGATE_CLUSTER_DOMAIN',
  'BOXGATE_CLUSTER_ID',
  'BOXGATE_CREATE_API_ROLE',
  'BOXGATE_DATABASES',
  'BOXGATE_DATABASE_SECRET',
  'BOXGATE_DATABASE_URL',
  'BOXGATE_DATABASE_WAIT_SECONDS',
  'BOXGATE_DEFAULT_DATABASE',
  'BOXGATE_DIGEST_KEY',
  'BOXGATE_ENCRYPTION_KEY',
  'BOXGATE_FAILURES_PER_ACCOUNT',
  'BOXGATE_FAILURES_PER_BOX',
  'BOXGATE_FAILURES_PER_CLIENT',
  'BOXGATE_FAILURES_PER_SECRET',
  'BOXGATE_FOLDER',
  'BOXGATE_HASH_THREADS',
  'BOXGATE_HEALTH_PORT',
  'BOXGATE_HOLD_SECONDS',
  'BOXGATE_HOST',
  'BOXGATE_JWKS_HOSTS',
  'BOXGATE_KEEP_ALIVE_SECONDS',
  'BOXGATE_KEYS_PROVIDED',
  'BOXGATE_KEYS_SECRET',
  'BOXGATE_LEASE_NAME',
  'BOXGATE_LEASE_SECONDS',
  'BOXGATE_LEAVE_NEWER_SCHEMA',
  'BOXGATE_LINGER_SECONDS',
  'BOXGATE_LOG_LEVEL',
  'BOXGATE_MANAGEMENT_CA_FILE',
  'BOXGATE_MANAGEMENT_HOST',
  'BOXGATE_MANAGEMENT_KEYS',
  'BOXGATE_MANAGEMENT_PORT',
  'BOXGATE_MANAGEMENT_TLS_FOLDER',
  'BOXGATE_MANAGEMENT_URL',
  'BOXGATE_NAMESPACE',
  'BOXGATE_OWNER_URL',
  'BOXGATE_PARENT_PIPE',
  'BOXGATE_POD_UID',
  'BOXGATE_POOL_SIZE',
  'BOXGATE_PORT',
  'BOXGATE_PUBLIC_TLS',
  'BOXGATE_PUBLIC_URL',
  'BOXGATE_RELIST_SECONDS',
  'BOXGATE_RESOURCES_IN_MEMORY',
  'BOXGATE_REVOCATIONS_NEED_STANDBY',
  'BOXGATE_SERVICE_ACCOUNT',
  'BOXGATE_SERVICE_ACCOUNT_FOLDER',
  'BOXGATE_STANDALONE',
  'BOXGATE_SWEEP_SECONDS',
  'BOXGATE_TLS_FOLDER',
  'BOXGATE_TRUSTED_PROXIES',
  'BOXGATE_USAGE_SECONDS',
  'BOXGATE_WAIT_FOR_DATABASE',
];

/** Variables that Kubernetes sets for the Services of a namespace, such as `BOXGATE_API_PORT_80_TCP_ADDR`. */
const ofService = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const addressOfService = /^(?:tcp|udp|sctp):\/\//;

/** The URLs of a database that is not home: its name follows. */
const ofDatabase = /^BOXGATE_(?:DATABASE|OWNER)_URL_[A-Z][A-Z0-9_]*$/;

const settings: ReadonlySet<string> = new Set(SETTING_NAMES);

/** Returns a sentence for each variable `BOXGATE_…` that no program reads, without its value. */
export function unknownSettings(environment: Environment): readonly string[] {
  return Object.entries(environment)
    .filter(
      ([name, value]) =>
        /^BOXGATE_\w+$/.test(name) && !settings.has(name) && !ofDatabase.test(name) && !isOfService(name, value),
    )
    .map(([name]) => `${name} is ignored, because no setting has this name${wordHint(name, SETTING_NAMES)}`)
    .sort();
}

function isOfService(name: string, value = ''): boolean {
  return ofService.test(name) || (name.endsWith('_PORT') && addressOfService.test(value));
}

/** Reads settings. If some are missing or wrong, also names the unknown ones: throws ConfigError with both. */
export function readWithUnknown<T>(unknown: readonly string[], read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError([...error.mistakes, ...unknown]);
    throw error;
  }
}
