import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { buildUi } from './build-ui.ts';
import type { BuiltFile } from './build-ui.ts';

/** A file of the admin UI in each form in which it is sent. */
export interface UiFile {
  readonly contentType: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

/** The files of the admin UI. */
export interface UiFiles {
  readonly script: string;
  readonly style: string;
  /** By name. */
  readonly files: ReadonlyMap<string, UiFile>;
}

/** The sources of the admin UI; in the image only the built files, in {@link BUILT}. */
const folder = path.join(import.meta.dirname, '../../ui');

/** Name of the folder with the built files, in the image. */
export const BUILT = 'built';

/**
 * Returns a function that reads the files of the admin UI once, and builds them once in a checkout. It throws an Error
 * if they can be neither read nor built.
 */
export function createUiFiles(): () => Promise<UiFiles> {
  let reading: Promise<UiFiles> | undefined;
  return () => {
    // A failed attempt is not kept: the next request tries again.
    reading ??= readUiFiles().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}

async function readUiFiles(): Promise<UiFiles> {
  const built = (await readBuiltFiles(path.join(folder, BUILT))) ?? (await buildUi(folder));
  const files = await Promise.all(
    built.map(async ({ name, text }) => [name, await compressed(contentTypeOf(name), Buffer.from(text))] as const),
  );
  return { script: nameOf(built, '.js'), style: nameOf(built, '.css'), files: new Map(files) };
}

/** Returns the built files of the image; undefined in a checkout. */
async function readBuiltFiles(from: string): Promise<readonly BuiltFile[] | undefined> {
  const names = await readdir(from).catch(() => undefined);
  if (names === undefined) return undefined;
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(path.join(from, name), 'utf8') })));
}

function nameOf(built: readonly BuiltFile[], extension: string): string {
  const found = built.find(({ name }) => name.endsWith(extension));
  if (found === undefined) throw new Error(`The admin UI has no file *${extension}`);
  return found.name;
}

function contentTypeOf(name: string): string {
  return name.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8';
}

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

async function compressed(contentType: string, plain: Buffer): Promise<UiFile> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const [br, gzip] = await Promise.all([brotli(plain, { params }), zip(plain)]);
  return { contentType, plain, br, gzip };
}
