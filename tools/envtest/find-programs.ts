import { accessSync, constants, globSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../cache-folder.ts';
import { controllerManager, release, type ProgramName } from './release.ts';

/** Environment variables that locate the programs. */
export type ProgramEnvironment = Readonly<Record<string, string | undefined>>;

/** Paths of the control plane's programs. */
export type Programs = Readonly<Record<ProgramName, string>>;

/**
 * Returns the programs: those in the folder KUBEBUILDER_ASSETS if it is set, otherwise those on the PATH, where `make
 * envtest` put them, or in another cache. Throws an Error of one sentence if one is missing: a test that needs them is
 * never skipped.
 */
export function findPrograms(environment: ProgramEnvironment = process.env): Programs {
  const assets = environment['KUBEBUILDER_ASSETS'] ?? '';
  if (assets !== '') return all([assets], `in the folder that KUBEBUILDER_ASSETS names (${assets})`);
  return all(usualFolders(environment), 'on the PATH, nor in the cache of make envtest');
}

/**
 * Returns kube-controller-manager: in the folder KUBEBUILDER_ASSETS, and, as the published archives lack it, where the
 * others may be too. Throws an Error of one sentence if it is missing.
 */
export function findControllerManager(environment: ProgramEnvironment = process.env): string {
  const { name } = controllerManager;
  const assets = environment['KUBEBUILDER_ASSETS'] ?? '';
  const folders = [...(assets === '' ? [] : [assets]), ...usualFolders(environment)];
  const found = folders.map((folder) => path.join(folder, name)).find(isExecutable);
  if (found === undefined) throw new Error(`${name} is not found: run make envtest, which obtains what the tests need`);
  return found;
}

/**
 * Returns the folders where programs of a cluster may be: those of the PATH, the cache of `make envtest`, and caches of
 * other tools with the same minor version of Kubernetes, such as ~/.cache/<tool>/v1.34.4/bin, the newest first.
 */
export function usualFolders(environment: ProgramEnvironment): readonly string[] {
  const folders = (environment['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const caches = path.dirname(cacheFolder(environment));
  const others = globSync(`*/${release.version.replace(/\d+$/, '*')}/bin`, { cwd: caches });
  const newestFirst = others.toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  return [...folders, envtestCache(environment), ...newestFirst.map((folder) => path.join(caches, folder))];
}

/** Returns the folder outside the tree in which `make envtest` keeps the programs. */
export function envtestCache(environment: ProgramEnvironment = process.env): string {
  return path.join(cacheFolder(environment), 'envtest', release.version);
}

function all(folders: readonly string[], where: string): Programs {
  const missing: string[] = [];
  const one = (name: ProgramName): string => {
    const found = folders.map((folder) => path.join(folder, name)).find(isExecutable);
    if (found === undefined) missing.push(name);
    return found ?? '';
  };
  const found = { etcd: one('etcd'), 'kube-apiserver': one('kube-apiserver'), kubectl: one('kubectl') };
  if (missing.length === 0) return found;
  throw new Error(`${missing.join(', ')} not found ${where}: run make envtest, which obtains what the tests need`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
