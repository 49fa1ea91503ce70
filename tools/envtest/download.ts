import { execFile } from 'node:child_process';
import { chmod, copyFile, glob, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { fetchChecked } from './fetch-checked.ts';
import type { Archive } from './fetch-checked.ts';

const run = promisify(execFile);

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
