import { globSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildUi } from '../../api/http/ui/build-ui.ts';
import { BUILT } from '../../api/http/ui/ui-files.ts';
import { isObject } from '../../crds/path.ts';
import { runProgram } from '../run-program.ts';

/** Writes the files of the image: the program, and the packages of `dependencies`. Throws as {@link writeProgram}. */
export async function writeFiles(root: string, folder: string): Promise<void> {
  await writeProgram(root, folder);
  await copyPackages(root, folder);
}

/**
 * Writes the program as the image holds it into a folder that does not exist yet: compiled JavaScript, the schema,
 * and the built admin UI. `root` is a checkout with installed packages. Throws an Error of one sentence.
 */
export async function writeProgram(root: string, folder: string): Promise<void> {
  await mkdir(path.dirname(path.resolve(folder)), { recursive: true });
  await mkdir(folder);
  await compile(root, folder);
  for (const file of globSync('api/db/*.sql', { cwd: root })) {
    await cp(path.join(root, file), path.join(folder, file));
  }
  await writeUi(root, folder);
  const document = 'api/http/endpoints/openapi.json';
  const generate = [path.join(root, 'tools/openapi/generate.ts'), path.join(path.resolve(folder), document)];
  await runProgram(process.execPath, generate, { title: 'the OpenAPI document' });
  await cp(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  await writeDescription(root, folder);
}

async function compile(root: string, folder: string): Promise<void> {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const settings = ['--project', path.join(root, '.config/tsconfig.image.json'), '--outDir', path.resolve(folder)];
  await runProgram(process.execPath, [compiler, ...settings], { title: 'the compiler' });
}

/** Writes the admin UI as the API reads it where there is no esbuild. */
async function writeUi(root: string, folder: string): Promise<void> {
  const built = path.join(folder, 'api/ui', BUILT);
  await mkdir(built, { recursive: true });
  for (const { name, text } of await buildUi(path.join(root, 'api/ui'))) await writeFile(path.join(built, name), text);
}

/** Writes package.json: node reads the type of the modules from it, and the program its version. */
async function writeDescription(root: string, folder: string): Promise<void> {
  const described: unknown = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  if (!isObject(described)) throw new Error('package.json is not an object');
  const { name, version, license, type, dependencies } = described;
  const text = JSON.stringify({ name, version, license, private: true, type, dependencies }, null, 2);
  await writeFile(path.join(folder, 'package.json'), `${text}\n`);
}

async function copyPackages(root: string, folder: string): Promise<void> {
  const lock: unknown = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'));
  for (const { place, isOptional } of runtimePackages(lock)) {
    const from = path.join(root, place);
    try {
      await cp(from, path.join(folder, place), {
        recursive: true,
        filter: (file) => isRuntimeFile(path.relative(from, file), process.arch),
      });
    } catch (cause) {
      if (isOptional) continue;
      throw new Error(`The package ${place} cannot be copied: run npm ci`, { cause });
    }
  }
}

/** A package that the program loads when it runs. */
interface RuntimePackage {
  /** Its folder, such as `node_modules/pg`. */
  readonly place: string;
  /** Installed only on some platforms. */
  readonly isOptional: boolean;
}

/**
 * Returns the packages of a package-lock.json that `npm ci --omit=dev` installs, without those that only hold types.
 */
export function runtimePackages(lock: unknown): readonly RuntimePackage[] {
  if (!isObject(lock) || !isObject(lock['packages'])) throw new Error('package-lock.json lists no packages');
  return Object.entries(lock['packages']).flatMap(([place, described]) => {
    if (place === '' || !isObject(described)) return [];
    if (described['dev'] === true || /(^|\/)node_modules\/@types\//.test(place)) return [];
    return [{ place, isOptional: described['optional'] === true }];
  });
}

/** Types, source maps, sources of native code, documentation, and builds for a runtime other than Node.js. */
const notLoaded = /\.([cm]?ts|map|md|markdown|cc?|cpp|h|gypi?|bare)$/i;

/**
 * Checks whether a file or folder of a package is needed at run time on Linux with this processor (`process.arch`).
 * The path is relative to the package. Packages inside the package have an entry of their own.
 */
function isRuntimeFile(file: string, arch: string): boolean {
  const [top, platform] = file.split(/[/\\]/);
  if (top === 'node_modules') return false;
  if (top === 'prebuilds' && platform !== undefined && platform !== `linux-${arch}`) return false;
  return !notLoaded.test(file) || /^(licen[cs]e|notice|copying)\b/i.test(file);
}
