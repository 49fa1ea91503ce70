import { randomBytes } from 'node:crypto';
import { createCertificate } from './certificate.ts';
import type { KeysConfig } from './config.ts';
import type { FoundSecret, SecretStore } from './secret-store.ts';

/** The keys that the Secret of an installation has. */
export const keyNames = ['management-keys', 'digest-key', 'encryption-key', 'tls.crt', 'tls.key', 'ca.crt'] as const;

/**
 * Creates the Secrets that the installation lacks, and returns a sentence for each. An existing Secret is never
 * changed. Throws an Error of one sentence if one lacks a key: a new key in its place could make stored data
 * unreadable.
 */
export async function createKeys(store: SecretStore, config: KeysConfig, now: number): Promise<readonly string[]> {
  const keys = config.isProvided
    ? []
    : [await createOnce(store, config.secretName, keyNames, () => newKeys(config, now))];
  if (config.databaseHost === undefined) return keys;
  const host = config.databaseHost;
  const owner = await createOnce(store, config.databaseSecretName, databaseKeyNames, async () =>
    databaseAccess(host, 'boxgate'),
  );
  const api = await createOnce(store, `${config.databaseSecretName}-api`, databaseKeyNames, async () =>
    databaseAccess(host, 'boxgate_api'),
  );
  return [...keys, owner, api];
}

async function newKeys(config: KeysConfig, now: number): Promise<Readonly<Record<(typeof keyNames)[number], string>>> {
  const { certificate, key, authority } = await createCertificate(managementNames(config), now);
  return {
    'management-keys': randomBytes(32).toString('base64url'),
    'digest-key': randomBytes(32).toString('base64'),
    'encryption-key': randomBytes(32).toString('base64'),
    'tls.crt': certificate,
    'tls.key': key,
    'ca.crt': authority,
  };
}

/** Returns the names of the management Service that its certificate has. */
export function managementNames({ namespace, clusterDomain }: Pick<KeysConfig, 'namespace' | 'clusterDomain'>) {
  const short = `boxgate-management.${namespace}.svc`;
  return ['boxgate-management', `boxgate-management.${namespace}`, short, `${short}.${clusterDomain}`];
}

async function createOnce(
  store: SecretStore,
  name: string,
  keys: readonly string[],
  create: () => Promise<Readonly<Record<string, string>>>,
): Promise<string> {
  const found = await store.read(name);
  if (found === undefined && (await store.create(name, await create()))) return `created the Secret ${name}`;
  // Somebody else may have created it meanwhile.
  const data: FoundSecret['data'] = (found ?? (await store.read(name)))?.data ?? {};
  const missing = keys.filter((key) => (data[key] ?? '') === '');
  if (missing.length === 0) return `the Secret ${name} exists and is left as it is`;
  const one = missing.length === 1 ? 'the key' : 'the keys';
  throw new Error(
    `The Secret ${name} lacks ${one} ${missing.join(', ')}: restore it from a backup, or add what is missing; it is never changed here`,
  );
}

/** Keys as the operator CloudNativePG names them in its Secrets. */
const databaseKeyNames = ['username', 'password', 'dbname', 'host', 'port', 'uri'] as const;

function databaseAccess(host: string, username: string): Readonly<Record<(typeof databaseKeyNames)[number], string>> {
  const [password, dbname, port] = [randomBytes(24).toString('hex'), 'boxgate', '5432'];
  const uri = `postgres://${username}:${password}@${host}:${port}/${dbname}`;
  return { username, password, dbname, host, port, uri };
}
