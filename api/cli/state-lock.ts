import { open, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { CliError, EXIT, onFile } from './cli-error.ts';

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
