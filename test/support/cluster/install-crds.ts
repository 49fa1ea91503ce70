import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { KINDS } from '../../../crds/kind.ts';
import { eventually } from '../eventually.ts';
import type { ControlPlane } from './control-plane.ts';
import { findPrograms } from '../../../tools/envtest/find-programs.ts';

const run = promisify(execFile);
const installed = new WeakMap<ControlPlane, Promise<void>>();

/** Gives a control plane our custom resources as an admin does, once: `kubectl apply -f crds/`, and waits for them. */
export function installCrds(plane: ControlPlane): Promise<void> {
  const known = installed.get(plane);
  if (known !== undefined) return known;
  const installing = applyCrds(plane);
  installed.set(plane, installing);
  return installing;
}

/**
 * Applies our custom resources, and waits until each is served. `kubectl wait` gives up on a definition that was made
 * just now and has no conditions yet.
 */
export async function applyCrds(plane: ControlPlane): Promise<void> {
  await kubectl(plane, 'apply', '-f', 'crds/');
  for (const { plural } of Object.values(KINDS)) {
    const path = `/apis/boxgate.dev/v1/${plural}`;
    await eventually(`${plural} are served`, async () => (await plane.call({ path })).status === 200);
  }
}

/** Runs kubectl as the admin and resolves with what it printed; rejects with what it says where it fails. */
export async function kubectl(plane: ControlPlane, ...command: readonly string[]): Promise<string> {
  const { stdout } = await run(findPrograms().kubectl, ['--kubeconfig', plane.kubeconfig, ...command], {
    maxBuffer: 16 * 2 ** 20,
  });
  return stdout;
}
