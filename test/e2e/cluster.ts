import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { removeInstallation } from './remove-installation.ts';
import { runCommand } from './run-command.ts';
import { timed } from './timed.ts';

/** The cluster of a run. */
export interface Cluster {
  /** Environment variables with which kubectl and helm reach it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Puts images from Docker on its nodes. */
  load(images: readonly string[]): Promise<void>;
  /** Deletes it if the run created it, otherwise what the run installed, also where the stories were interrupted. */
  remove(): Promise<void>;
}

/**
 * Name of the cluster that a run creates: one with this name is deleted first, as it was left behind by a killed run.
 */
const clusterName = 'boxgate-e2e';

/** Creates a cluster with kind, with the node image in KIND_NODE_IMAGE if it is set. */
export async function createCluster(): Promise<Cluster> {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-e2e-'));
  const kubeconfig = path.join(folder, 'kubeconfig');
  const named = ['--name', clusterName, '--kubeconfig', kubeconfig];
  const nodeImage = process.env['KIND_NODE_IMAGE'] ?? '';
  const remove = async (): Promise<void> => {
    await runCommand('kind', ['delete', 'cluster', '--quiet', ...named]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await runCommand('kind', ['delete', 'cluster', '--quiet', ...named]);
    const image = nodeImage === '' ? [] : ['--image', nodeImage];
    await timed('kind create cluster', () =>
      runCommand('kind', ['create', 'cluster', '--quiet', ...named, ...image, '--wait', '3m'], { timeout: 600_000 }),
    );
  } catch (error) {
    await remove();
    throw error;
  }
  return { environment: { KUBECONFIG: kubeconfig }, load: (images) => loadWithKind(images, clusterName), remove };
}

/**
 * Returns the cluster of the current context. Images are loaded if kind created it; otherwise its nodes must be able to
 * pull them. Throws if a Boxgate is installed there: a run removes what it finds.
 */
export async function currentCluster(): Promise<Cluster> {
  const context = (await runCommand('kubectl', ['config', 'current-context'])).trim();
  const installed = await runCommand('kubectl', [
    'get',
    'namespace',
    'boxgate-system',
    '--ignore-not-found',
    '--output',
    'name',
  ]);
  if (installed.trim() !== '') {
    throw new Error(
      `the cluster ${context} has a namespace boxgate-system: uninstall Boxgate there, or use another cluster`,
    );
  }
  const [, name] = /^kind-(.+)$/.exec(context) ?? [];
  return {
    environment: {},
    load: (images) => (name === undefined ? Promise.resolve() : loadWithKind(images, name)),
    remove: () => removeInstallation(),
  };
}

async function loadWithKind(images: readonly string[], name: string): Promise<void> {
  await timed('kind load docker-image', () =>
    runCommand('kind', ['load', 'docker-image', '--quiet', ...images, '--name', name]),
  );
}
