import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { DevError } from '../options.ts';
import { reasonOf } from '../../api/client/manifest/walk.ts';
import { plainText } from '../../program/text.ts';
import { takeLock } from './instance-lock.ts';
import { isObject, parseJson } from '../../crds/path.ts';
import { randomBytes } from 'node:crypto';
import { Secret } from '../../api/client/secret.ts';

/** The secrets of one state folder, created at its first use. */
interface InstallationKeys {
  /** Password of the embedded Postgres' superuser. */
  readonly postgresPassword: Secret;
  /** Password of the API's role. */
  readonly apiPassword: Secret;
  /** Seals the signing keys in the database: 32 bytes in base64. */
  readonly encryptionKey: Secret;
  /** Key of the digests that are stored with the rows: 32 bytes in base64. */
  readonly digestKey: Secret;
}

/**
 * Reads the keys of a state folder from `file` (mode 0600), or creates it. Throws DevError if it is damaged: it is
 * never replaced, because the database is sealed with its contents.
 */
function installationKeys(file: string): InstallationKeys {
  if (!existsSync(file)) createKeys(file);
  const keys = parseJson(readFileSync(file, 'utf8'));
  const key = (name: keyof InstallationKeys): Secret => {
    const text = isObject(keys) ? keys[name] : undefined;
    if (typeof text === 'string' && text !== '') return new Secret(text);
    throw new DevError(`${file} is damaged; restore it, or remove the state folder to start again without its data`);
  };
  return {
    postgresPassword: key('postgresPassword'),
    apiPassword: key('apiPassword'),
    encryptionKey: key('encryptionKey'),
    digestKey: key('digestKey'),
  };
}

function createKeys(file: string): void {
  const keys = {
    postgresPassword: randomBytes(24).toString('hex'),
    apiPassword: randomBytes(24).toString('hex'),
    encryptionKey: randomBytes(32).toString('base64'),
    digestKey: randomBytes(32).toString('base64'),
  } satisfies Record<keyof InstallationKeys, string>;
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** Everything that `boxgate dev` keeps between runs, held by this process alone until it is released. */
export interface StateFolder {
  readonly keys: InstallationKeys;
  /** Data of the embedded Postgres. */
  readonly data: string;
  readonly secrets: string;
  readonly postgresLog: string;
  readonly apiLog: string;
  /** True if a killed process had it; the processes which that had started may be ending just now. */
  readonly isTakenOver: boolean;
  release(): void;
}

/** Opens a state folder, creating a missing one. Throws DevError if it cannot be used, or another instance uses it. */
export function openStateFolder(folder: string): StateFolder {
  try {
    return open(folder);
  } catch (error) {
    if (error instanceof DevError) throw error;
    throw new DevError(`The state folder ${folder} cannot be used: ${reasonOf(error)}${remedyFor(error)}`);
  }
}

function open(folder: string): StateFolder {
  makeFolder(path.resolve(folder));
  demandOwnFolder(folder);
  // As root, Postgres runs as another user, who must be able to pass through to its data; the secrets are below 0700.
  chmodSync(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
  const lock = takeLock(path.join(folder, 'lock'));
  if ('heldBy' in lock) {
    throw new DevError(`Another boxgate dev (process ${String(lock.heldBy)}) uses the state folder ${folder}`);
  }
  try {
    // A commit of the folder of manifests must not include secrets.
    writeFileSync(path.join(folder, '.gitignore'), '*\n');
    const secrets = path.join(folder, 'secrets');
    mkdirSync(secrets, { recursive: true, mode: 0o700 });
    const [keys, data] = [path.join(folder, 'keys.json'), path.join(folder, 'data')];
    // New keys cannot open an old database, and its error message would help nobody.
    if (!existsSync(keys) && existsSync(data)) {
      throw new DevError(
        `${keys} is lost, and without it the data beside it cannot be opened: restore it, or remove the state folder to start again without its data`,
      );
    }
    return {
      keys: installationKeys(keys),
      data,
      secrets,
      postgresLog: path.join(folder, 'postgres.log'),
      apiLog: path.join(folder, 'api.log'),
      isTakenOver: lock.isTakenOver,
      release: () => lock.release(),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Throws DevError for a folder of other files: it would get another mode, and a `.gitignore` that leaves them out. */
function demandOwnFolder(folder: string): void {
  const names = readdirSync(folder);
  if (names.includes('keys.json') || names.includes('data')) return;
  const other = names.find((name) => !OWN_FILES.test(name));
  if (other === undefined) return;
  throw new DevError(
    `The state folder ${folder} holds other files, such as ${plainText(other)}: name a new folder with --state <dir>`,
  );
}

/** Names in a state folder whose first run was ended early. */
const OWN_FILES = /^(lock.*|\.gitignore|secrets|.*\.log)$/;

/** Returns advice for a folder that is closed to us: in another user's checkout only the state has to move. */
function remedyFor(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isClosed = code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
  return isClosed ? '. Name a folder of your own with --state <dir>' : '';
}

/** Creates a folder and its missing parents. Node's own way never returns if a file system takes no folders (/proc). */
function makeFolder(folder: string): void {
  const parent = path.dirname(folder);
  if (existsSync(folder)) return;
  if (!existsSync(parent)) makeFolder(parent);
  mkdirSync(folder);
}
