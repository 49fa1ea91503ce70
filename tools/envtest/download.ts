import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, glob, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A file that is published, and its SHA-512 in hexadecimal. */
export interface Archive {
  readonly url: string;
  readonly sum: string;
}

/** Puts programs of an archive into a folder. Throws if it cannot be had or is not the one that is meant. */
export async function download(archive: Archive, names: readonly string[], folder: string): Promise<void> {
  const bytes = await fetchChecked(archive);
  const scratch = await mkdtemp(path.join(folder, '.download-'));
  try {
    await writeFile(path.join(scratch, 'archive.tar.gz'), bytes);
    await run('tar', ['-xzf', 'archive.tar.gz'], { cwd: scratch });
    for (const name of names) await place(scratch, name, folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Written aside first: a program is there whole or not at all. */
async function place(scratch: string, name: string, folder: string): Promise<void> {
  for await (const file of glob(`**/${name}`, { cwd: scratch })) {
    const draft = path.join(folder, `.${name}`);
    await copyFile(path.join(scratch, file), draft);
    await chmod(draft, 0o755);
    await rename(draft, path.join(folder, name));
    return;
  }
  throw new Error(`the archive holds no ${name}`);
}

/** Milliseconds until an answer begins, and until it is there whole. */
const limits = { answer: 20_000, whole: 1_800_000 };

/** Downloads a file. Throws if it cannot be had or is not the one that is meant. */
export async function fetchChecked({ url, sum }: Archive): Promise<Buffer> {
  const bytes = await bytesOf(url);
  const found = createHash('sha512').update(bytes).digest('hex');
  if (found !== sum) throw new Error(`${url} has the SHA-512 ${found}, not ${sum}`);
  return bytes;
}

async function bytesOf(url: string): Promise<Buffer> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`${url} does not answer`)), limits.answer);
  try {
    const response = await fetch(url, { signal: AbortSignal.any([late.signal, AbortSignal.timeout(limits.whole)]) });
    clearTimeout(timer);
    if (!response.ok) throw new Error(`${url} answers ${String(response.status)}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    // A name that nobody knows, and a connection that nobody takes, are the cause of "fetch failed".
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    if (cause === '') throw error;
    throw new Error(`${url} cannot be reached${cause}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
