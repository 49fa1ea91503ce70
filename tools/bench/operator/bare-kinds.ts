import { isObject } from '../../../crds/json-value.ts';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { ControlPlane } from '../../envtest/control-plane.ts';

/**
 * The group of kinds that are ours in all but the name: no operator looks at them, so a bare writer has them for
 * itself.
 */
export const bareGroup = 'bare.boxgate.dev';

const files = ['clients', 'accesspolicies'].map(
  (name) => new URL(`../../../crds/boxgate.dev_${name}.yaml`, import.meta.url),
);

/**
 * Defines our kinds once more in {@link bareGroup}, with the same schema and rules, and waits until they are served.
 */
export async function installBareKinds(plane: ControlPlane): Promise<void> {
  for (const file of files) await install(plane, parse(await readFile(file, 'utf8')));
}

async function install(plane: ControlPlane, definition: unknown): Promise<void> {
  const { spec, metadata, ...rest } = isObject(definition) ? definition : {};
  if (!isObject(spec) || !isObject(metadata) || !isObject(spec['names'])) throw new Error('no definition of a kind');
  const plural = String(spec['names']['plural']);
  const names = { ...spec['names'], shortNames: [], categories: [] };
  const { annotations = {} } = metadata;
  const body = {
    ...rest,
    metadata: { name: `${plural}.${bareGroup}`, annotations },
    spec: { ...spec, group: bareGroup, names },
  };
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const answer = await plane.call({ method: 'POST', path, body });
  if (answer.status !== 201) throw new Error(`no ${bareGroup} kinds: ${JSON.stringify(answer.body)}`);
  const deadline = performance.now() + 30_000;
  while ((await plane.call({ path: `/apis/${bareGroup}/v1/${plural}` })).status !== 200) {
    if (performance.now() > deadline) throw new Error(`${plural} of ${bareGroup} are not served`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
