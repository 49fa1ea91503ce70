import { parseJson } from '../../crds/json-value.ts';
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Secret } from '../../api/client/secret.ts';
import { DevError } from '../dev-error.ts';

/** The secrets of one state folder, created at its first use. */
export interface InstallationKeys {
  /** Password of the embedded Postgres' superuser. */
  readonly postgresPassword: Secret;
  /** Password of the API's role. */
  readonly apiPassword: Secret;
  /** Seals the signing keys in the database: 32 bytes in base64. */
  readonly encryptionKey: Secret;
  /** Key of the digests that are stored with the rows: 32 bytes in base64. */
  readonly digestKey: Secret;
}

const names = ['postgresPassword', 'apiPassword', 'encryptionKey', 'digestKey'] as const;

/** Reads the keys of a state folder from `file` (mode 0600), or creates it. Throws DevError if it is damaged. */
export function installationKeys(file: string): InstallationKeys {
  const found = readKeys(file);
  if (found !== undefined) return found;
  const made = {
    postgresPassword: randomBytes(24).toString('hex'),
    apiPassword: randomBytes(24).toString('hex'),
    encryptionKey: randomBytes(32).toString('base64'),
    digestKey: randomBytes(32).toString('base64'),
  } satisfies Record<(typeof names)[number], string>;
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return secrets(made);
}

/** Returns undefined if there is no file. Never replaces a damaged one: the database is sealed with its contents. */
function readKeys(file: string): InstallationKeys | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const keys = parsed(text);
  if (keys !== undefined) return secrets(keys);
  throw new DevError(`${file} is damaged; restore it, or remove the state folder to start again without its data`);
}

type KeyTexts = Record<(typeof names)[number], string>;

function parsed(text: string): KeyTexts | undefined {
  const value = parseJson(text);
  return isKeys(value) ? value : undefined;
}

function isKeys(value: unknown): value is KeyTexts {
  if (typeof value !== 'object' || value === null) return false;
  const entries = new Map(Object.entries(value));
  return names.every((name) => typeof entries.get(name) === 'string' && entries.get(name) !== '');
}

function secrets(keys: KeyTexts): InstallationKeys {
  return {
    postgresPassword: new Secret(keys.postgresPassword),
    apiPassword: new Secret(keys.apiPassword),
    encryptionKey: new Secret(keys.encryptionKey),
    digestKey: new Secret(keys.digestKey),
  };
}
