import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, stat, rm } from 'node:fs/promises';
import path from 'node:path';
import { isObject, parseJson } from '../../crds/path.ts';
import { CliError, EXIT, onFile } from './cli-error.ts';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds between looks at a lock that another run holds. */
const INTERVAL = 25;
/** Milliseconds that a run waits for another one: longer than a request of that one may take. */
const PATIENCE = 45_000;

/**
 * Runs work while a file exists that no other run creates. Throws CliError if another run keeps it for 45 s, or if the
 * file system refuses it.
 */
export async function whileLocked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE;
  while (!(await onFile('written', file, take(file)))) {
    if (Date.now() > deadline)
      throw new CliError(EXIT.usage, `another boxctl holds ${file}: remove the file if there is none`);
    await removeIfAbandoned(file);
    await pause(INTERVAL);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Removes the lock of a run that was killed: its process is gone. Of several runs one removes it, and none removes the
 * lock that another one has taken meanwhile.
 */
async function removeIfAbandoned(file: string): Promise<void> {
  const abandoned = await abandonedLock(file);
  if (abandoned === undefined) return;
  const claim = `${file}.${abandoned}`;
  if (!(await onFile('written', file, take(claim)))) return;
  try {
    if ((await abandonedLock(file)) === abandoned) await rm(file, { force: true });
  } finally {
    await rm(claim, { force: true });
  }
}

/** Returns the identity of an abandoned lock: no later lock has the same. Undefined if it is held, or being written. */
async function abandonedLock(file: string): Promise<string | undefined> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { ino, mtimeMs } = await handle.stat();
    const holder = Number(await handle.readFile('utf8'));
    // A run writes its number at once, unless it is killed before that.
    const isAbandoned = holder > 0 ? !isRunning(holder) : Date.now() - mtimeMs > PATIENCE / 2;
    return isAbandoned ? `${String(ino)}-${String(mtimeMs)}` : undefined;
  } finally {
    await handle.close();
  }
}

function isRunning(process_id: number): boolean {
  try {
    process.kill(process_id, 0);
    return true;
  } catch (error) {
    // The process of another user exists.
    return isCode(error, 'EPERM');
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Tokens of a sign-in to a box. */
export interface KeptLogin {
  /** The client that the tokens were issued to. */
  readonly client: string;
  readonly access_token: string;
  /** Milliseconds since 1970; undefined: the answer did not tell. */
  readonly expires_at?: number;
  readonly refresh_token?: string;
  /** The box; absent if the base URL names it. */
  readonly box?: string;
}

/** State that boxctl keeps between runs: the choice of a box, and sign-ins by base URL. No password is among them. */
export interface KeptState {
  readonly box?: string;
  /** Public URL of the chosen installation. In a change, undefined removes it. */
  readonly server?: string | undefined;
  /** Base URL of `box`, instead of `server`, if the installation is not known. In a change, undefined removes it. */
  readonly base?: string | undefined;
  readonly logins?: Readonly<Record<string, KeptLogin>>;
}

/** The state file of a person. */
export interface State {
  /**
   * Returns what is kept: nothing if there is no file. Throws CliError if others may read it, if it is no JSON, and
   * StorageError if the file system refuses it.
   */
  read(): Promise<KeptState>;
  /** Changes some of it, in one step: a reader sees the old file or the new one. Throws like read. */
  write(change: KeptState): Promise<void>;
  /**
   * Reads the state, waits for the work and keeps its change, while no other run of boxctl changes it. Throws like
   * read, and CliError if another run holds the file for too long.
   */
  update<T>(work: (kept: KeptState) => Promise<StateChange<T>>): Promise<T>;
}

/** A change of the state, and the result of the work that made it. */
export interface StateChange<T> {
  readonly change: KeptState;
  readonly result: T;
}

/** Returns the state in a file that its owner alone may read (mode 0600). */
export function stateIn(file: string): State {
  async function read(): Promise<KeptState> {
    const text = await readOwn(file);
    if (text === undefined) return {};
    const kept = parseJson(text);
    if (!isObject(kept))
      throw new CliError(EXIT.usage, `${file} is not readable as JSON: remove it, and choose the box again`);
    const logins = isObject(kept['logins']) ? { logins: loginsOf(kept['logins']) } : {};
    return { ...textOf(kept, 'box'), ...textOf(kept, 'server'), ...textOf(kept, 'base'), ...logins };
  }

  async function replace(kept: KeptState): Promise<void> {
    const next = `${file}.${randomUUID()}`;
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(kept, null, 2)}\n`);
    } finally {
      await handle.close();
    }
    await rename(next, file);
  }

  async function update<T>(work: (kept: KeptState) => Promise<StateChange<T>>): Promise<T> {
    await onFile('written', file, mkdir(path.dirname(file), { recursive: true, mode: 0o700 }));
    return whileLocked(`${file}.lock`, async () => {
      const kept = await read();
      const { change, result } = await work(kept);
      if (Object.keys(change).length > 0) await onFile('written', file, replace({ ...kept, ...change }));
      return result;
    });
  }

  return { read, update, write: (change) => update(async () => Promise.resolve({ change, result: undefined })) };
}

function textOf(kept: Readonly<Record<string, unknown>>, name: 'box' | 'server' | 'base'): KeptState {
  const value = kept[name];
  return typeof value === 'string' ? { [name]: value } : {};
}

function loginsOf(kept: Readonly<Record<string, unknown>>): Readonly<Record<string, KeptLogin>> {
  const logins = Object.entries(kept).flatMap(([base, login]) => {
    const known = isObject(login) ? loginOf(login) : undefined;
    return known === undefined ? [] : [[base, known] as const];
  });
  return Object.fromEntries(logins);
}

function loginOf({ client, access_token, expires_at, refresh_token, box }: Readonly<Record<string, unknown>>) {
  if (typeof client !== 'string' || typeof access_token !== 'string') return undefined;
  return {
    client,
    access_token,
    ...(typeof expires_at === 'number' ? { expires_at } : {}),
    ...(typeof refresh_token === 'string' ? { refresh_token } : {}),
    ...(typeof box === 'string' ? { box } : {}),
  };
}

async function readOwn(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isFile() && (found.mode & 0o077) !== 0)
    throw new CliError(EXIT.usage, `others may read ${file}: run \`chmod 600 ${file}\` first`);
  return onFile('read', file, readFile(file, 'utf8'));
}
