import { reading, type Environment } from '../../program/environment.ts';

/** The settings of `boxgate keys`, each from one variable of the environment (docs/reference/configuration.md). */
export interface KeysConfig {
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
    const host = read.text('BOXGATE_BUNDLED_DATABASE_HOST', '', (text) => text === '' || isName(text), hostName);
    return {
      namespace: read.requiredText('BOXGATE_NAMESPACE', isLabel, 'must be the namespace of the installation'),
      secretName: read.text('BOXGATE_KEYS_SECRET', 'boxgate-keys', isName, secret),
      isProvided: read.flag('BOXGATE_KEYS_PROVIDED', false),
      clusterDomain: read.text('BOXGATE_CLUSTER_DOMAIN', 'cluster.local', isName, 'must be a domain in lower case'),
      databaseHost: host === '' ? undefined : host,
      databaseSecretName: read.text('BOXGATE_DATABASE_SECRET', 'boxgate-database', isName, secret),
    };
  });
}

const hostName = 'must be the name of the Service of the bundled Postgres';

function isLabel(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}

/** Checks for a DNS subdomain in lower case, such as the name of a Secret (RFC 1123). */
function isName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(text);
}
