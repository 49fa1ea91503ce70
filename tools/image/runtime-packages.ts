import { isObject } from '../../crds/path.ts';

/** A package that the program loads when it runs. */
export interface RuntimePackage {
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
export function isRuntimeFile(file: string, arch: string): boolean {
  const [top, platform] = file.split(/[/\\]/);
  if (top === 'node_modules') return false;
  if (top === 'prebuilds' && platform !== undefined && platform !== `linux-${arch}`) return false;
  return !notLoaded.test(file) || /^(licen[cs]e|notice|copying)\b/i.test(file);
}
