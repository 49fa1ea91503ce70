import { randomBytes } from 'node:crypto';
import { createCertificate } from './certificate.ts';
import { createSecretStore, type FoundSecret, type SecretStore } from './secret-store.ts';
import { runCommand } from '../../program/program.ts';
import { clusterConfig, createConnection } from '../kube/client/cluster-config.ts';
import { createKubeApi } from '../kube/client/kube-api.ts';
import { isSubdomain, reading, readClusterDomain, type Environment } from '../../program/environment.ts';
import { isName, readClusterAccess } from '../config.ts';
import {
  certificateStep,
  digestStep,
  encryptionStep,
  forgetStep,
  managementStep,
  nextOf,
  providedRefusal,
  rotations,
  stepAnnotation,
  type KeyChange,
  type RotationStep,
} from './rotation.ts';

const usage = `Usage: boxgate keys create               create the Secrets of an installation, once; an existing one is never changed
       boxgate keys rotate <key>        take the next step of a rotation: ${rotations.join(', ')}
       boxgate keys forget encryption   remove the older encryption keys, and with them what only they open
Settings come from the environment; see docs/reference/configuration.md.
`;

/** Runs one command of the installation's keys; resolves with its exit code: 0 done, 1 refused, 2 usage. */
export function main(args: readonly string[], environment: Environment): Promise<number> {
  const commands = new Map([['keys create', () => run(environment, createKeys)]]);
  for (const rotation of rotations) {
    commands.set(`keys rotate ${rotation}`, () =>
      run(environment, (store, config, now) => rotate(store, config, rotation, now)),
    );
  }
  commands.set('keys forget encryption', () =>
    run(environment, (store, config, now) => rotate(store, config, 'forget-encryption', now)),
  );
  return runCommand(args, usage, commands);
}

type Work = (store: SecretStore, config: KeysConfig, now: number) => Promise<readonly string[]>;

async function run(environment: Environment, work: Work): Promise<number> {
  const config = readKeysConfig(environment);
  const access = readClusterAccess(environment);
  const api = createKubeApi(createConnection(() => clusterConfig(access)));
  const labels = { 'app.kubernetes.io/name': 'boxgate', 'app.kubernetes.io/component': 'keys' };
  const store = createSecretStore(api, config.namespace, labels, new AbortController().signal);
  for (const sentence of await work(store, config, Date.now())) process.stdout.write(`${sentence}\n`);
  return 0;
}

/** The settings of `boxgate keys`, each from one variable of the environment (docs/reference/configuration.md). */
interface KeysConfig {
  /** BOXGATE_NAMESPACE: namespace of the installation and of its Secrets. */
  readonly namespace: string;
  /** BOXGATE_KEYS_SECRET: name of the Secret with the keys. */
  readonly secretName: string;
  /** BOXGATE_KEYS_PROVIDED: true if somebody else creates that Secret. */
  readonly isProvided: boolean;
  /** BOXGATE_CLUSTER_DOMAIN: the domain of the cluster's Services. */
  readonly clusterDomain: string;
  /** BOXGATE_BUNDLED_DATABASE_HOST: host of the bundled Postgres, whose passwords are created too; undefined: none. */
  readonly databaseHost: string | undefined;
  /** BOXGATE_DATABASE_SECRET: name of the Secret with the owner's access to that Postgres; the API's adds `-api`. */
  readonly databaseSecretName: string;
}

/** Reads the settings of the commands. Throws ConfigError with all mistakes at once. */
export function readKeysConfig(environment: Environment): KeysConfig {
  return reading(environment, (read) => {
    const secret = 'must be the name of a Secret';
    const host = read.text('BOXGATE_BUNDLED_DATABASE_HOST', '', (text) => text === '' || isSubdomain(text), hostName);
    return {
      namespace: read.requiredText('BOXGATE_NAMESPACE', isName, 'must be the namespace of the installation'),
      secretName: read.text('BOXGATE_KEYS_SECRET', 'boxgate-keys', isSubdomain, secret),
      isProvided: read.flag('BOXGATE_KEYS_PROVIDED', false),
      clusterDomain: readClusterDomain(read),
      databaseHost: host === '' ? undefined : host,
      databaseSecretName: read.text('BOXGATE_DATABASE_SECRET', 'boxgate-database', isSubdomain, secret),
    };
  });
}

const hostName = 'must be the name of the Service of the bundled Postgres';

/** The keys that the Secret of an installation has. */
const keyNames = ['management-keys', 'digest-key', 'encryption-key', 'tls.crt', 'tls.key', 'ca.crt'] as const;

/**
 * Creates the Secrets that the installation lacks, and returns a sentence for each. An existing Secret is never
 * changed. Throws an Error of one sentence if one lacks a key: a new key in its place could make stored data
 * unreadable.
 */
async function createKeys(store: SecretStore, config: KeysConfig, now: number): Promise<readonly string[]> {
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
function managementNames({ namespace, clusterDomain }: Pick<KeysConfig, 'namespace' | 'clusterDomain'>) {
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

/**
 * Takes the next step of a rotation, and returns sentences that tell it and what follows. Throws an Error if somebody
 * else provides the Secret, or if it or one of its keys is missing, and KubeError if somebody else changes it at the
 * same time.
 */
async function rotate(
  store: SecretStore,
  config: KeysConfig,
  rotation: KeyChange,
  now: number,
): Promise<readonly string[]> {
  const { secretName } = config;
  if (config.isProvided) throw new Error(providedRefusal(rotation, secretName));
  const found = await store.read(secretName);
  if (found === undefined) throw new Error(`There is no Secret ${secretName}: run boxgate keys create`);
  const missing = keyNames.filter((key) => (found.data[key] ?? '') === '');
  if (missing.length > 0) {
    throw new Error(`The Secret ${secretName} lacks ${missing.join(', ')}: restore it from a backup first`);
  }
  const step = await stepOf(found, config, rotation, now);
  await store.change(secretName, found, step.change);
  return [step.done, `next: ${nextOf(step, config.namespace)}`];
}

async function stepOf(
  { data, annotations }: FoundSecret,
  config: KeysConfig,
  rotation: KeyChange,
  now: number,
): Promise<RotationStep> {
  switch (rotation) {
    case 'management': {
      const fresh = randomBytes(32).toString('base64url');
      return managementStep(data['management-keys'] ?? '', annotations[stepAnnotation('management')], fresh);
    }
    case 'encryption': {
      const fresh = randomBytes(32).toString('base64');
      return encryptionStep(data['encryption-key'] ?? '', annotations[stepAnnotation('encryption')], fresh);
    }
    case 'forget-encryption':
      return forgetStep(data['encryption-key'] ?? '', annotations[stepAnnotation('encryption')]);
    case 'digest':
      return digestStep(randomBytes(32).toString('base64'));
    case 'certificate':
      return certificateStep(data, () => createCertificate(managementNames(config), now));
  }
}
