import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { isObject, parseJson } from '../../crds/json-value.ts';
import { CliError, EXIT } from './cli-error.ts';

/** Choices that boxctl keeps between runs. No password is among them. */
export interface KeptState {
  readonly box?: string;
  readonly server?: string;
}

/** The state file of a person. */
export interface State {
  /** Returns what is kept: nothing if there is no file. Throws CliError if others may read it, or if it is no JSON. */
  read(): Promise<KeptState>;
  /** Changes some of it, in one step: a reader sees the old file or the new one. Throws like read. */
  write(change: KeptState): Promise<void>;
}

/** Returns the state in a file that its owner alone may read (mode 0600). */
export function stateIn(file: string): State {
  async function read(): Promise<KeptState> {
    const text = await readOwn(file);
    if (text === undefined) return {};
    const kept = parseJson(text);
    if (!isObject(kept))
      throw new CliError(EXIT.usage, `${file} is not readable as JSON: remove it, and choose the box again`);
    return { ...textOf(kept, 'box'), ...textOf(kept, 'server') };
  }

  async function write(change: KeptState): Promise<void> {
    const kept = { ...(await read()), ...change };
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const next = `${file}.${randomUUID()}`;
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(kept, null, 2)}\n`);
    } finally {
      await handle.close();
    }
    await rename(next, file);
  }

  return { read, write };
}

function textOf(kept: Readonly<Record<string, unknown>>, name: 'box' | 'server'): KeptState {
  const value = kept[name];
  return typeof value === 'string' ? { [name]: value } : {};
}

async function readOwn(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return undefined;
  if ((found.mode & 0o077) !== 0)
    throw new CliError(EXIT.usage, `others may read ${file}: run \`chmod 600 ${file}\` first`);
  return readFile(file, 'utf8');
}
