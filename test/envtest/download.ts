import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, chmod, glob, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { programs } from './release.ts';

const run = promisify(execFile);

/** Where an archive of the programs is, and its SHA-512 in hexadecimal. */
export interface Archive {
  readonly url: string;
  readonly sum: string;
}

/** Milliseconds until an answer begins, and until it is there whole. */
const limits = { answer: 20_000, whole: 600_000 };

/** Puts the programs of an archive into a folder. Throws where it cannot be had or is not the one that is meant. */
export async function download({ url, sum }: Archive, folder: string): Promise<void> {
  const archive = await bytesOf(url);
  const found = createHash('sha512').update(archive).digest('hex');
  if (found !== sum) throw new Error(`${url} has the SHA-512 ${found}, not ${sum}`);
  const scratch = await mkdtemp(path.join(folder, '.download-'));
  try {
    await writeFile(path.join(scratch, 'archive.tar.gz'), archive);
    await run('tar', ['-xzf', 'archive.tar.gz'], { cwd: scratch });
    for (const { name } of programs) await place(scratch, name, folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function bytesOf(url: string): Promise<Buffer> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`${url} does not answer`)), limits.answer);
  const response = await fetch(url, { signal: AbortSignal.any([late.signal, AbortSignal.timeout(limits.whole)]) });
  clearTimeout(timer);
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
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
