import { readFileSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../cache-folder.ts';
import { usualFolders } from '../envtest/find-programs.ts';
import { goBuild } from '../envtest/go-build.ts';
import { obtainGo } from '../envtest/go.ts';
import { downloads } from '../envtest/release.ts';
import { findCommand } from './commands.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const module = path.join(import.meta.dirname, 'modules', 'helm');

/** Builds helm from its pinned Go module if there is none. Throws an Error of one sentence. */
export async function obtainHelm(environment: Variables, tell: (line: string) => void): Promise<void> {
  if (findHelm(environment) !== undefined) return;
  const go = await obtainGo(environment, tell, downloads.toolchain);
  tell('building helm (about three minutes on two cores where nothing is cached)');
  const output = built(environment);
  await goBuild(go, environment, { module, source: 'helm.sh/helm/v3/cmd/helm', output, linkerFlags: '-s -w' });
}

/**
 * Returns the program helm. Throws an Error of one sentence if there is none: a test that needs it is never skipped.
 */
export function neededHelm(environment: Variables = process.env): string {
  const found = findHelm(environment);
  if (found === undefined) throw new Error('helm is not found: run make needs, which builds it');
  return found;
}

/** Returns the helm of the folder KUBEBUILDER_ASSETS, of the PATH or of a cache; undefined if there is none. */
function findHelm(environment: Variables): string | undefined {
  const assets = environment['KUBEBUILDER_ASSETS'] ?? '';
  const folders = [assets, ...usualFolders(environment), path.dirname(built(environment))];
  const command = { title: 'Helm', names: ['helm'], package: 'helm' };
  return findCommand(command, { PATH: folders.filter((folder) => folder !== '').join(path.delimiter) });
}

/** Returns where a built helm is, which exists only after {@link obtainHelm}; another version has another folder. */
function built(environment: Variables): string {
  const [, version = 'unknown'] =
    /^\s*(?:require )?helm\.sh\/helm\/v3 (v\S+)/m.exec(readFileSync(path.join(module, 'go.mod'), 'utf8')) ?? [];
  return path.join(cacheFolder(environment), `helm-${version}`, 'helm');
}
