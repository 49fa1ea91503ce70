import { open, readFile, rm, stat } from 'node:fs/promises';
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

/** Removes the lock of a run that was killed: its process is gone. */
async function removeIfAbandoned(file: string): Promise<void> {
  const holder = Number(await readFile(file, 'utf8').catch(() => '')) || (await writerOf(file));
  if (holder !== undefined && !isRunning(holder)) await rm(file, { force: true });
}

/** Returns no process while a lock without a number is being written; one that cannot exist if it never will be. */
async function writerOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > PATIENCE / 2 ? NOBODY : undefined;
}

/** Larger than the number of any process. */
const NOBODY = 2 ** 31 - 1;

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
