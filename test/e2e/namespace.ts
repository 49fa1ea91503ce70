import { apply, kubectl } from './kubectl.ts';
import { system } from './installation.ts';
import { ofStory } from './remove-installation.ts';

/** Creates the namespace of a story, with the right of the operator on Secrets there unless `secretless`. */
export async function createNamespace(name: string, { secretless = false } = {}): Promise<void> {
  await kubectl('create', 'namespace', name);
  await kubectl('label', 'namespace', name, ofStory, 'pod-security.kubernetes.io/enforce=restricted');
  if (secretless) return;
  const account = `--serviceaccount=${system}:boxgate-operator`;
  await kubectl('create', 'rolebinding', 'boxgate-box', '--namespace', name, '--clusterrole=boxgate-box', account);
}

/** Deletes the namespace of a story. Throws if something holds it back. */
export async function deleteNamespace(name: string): Promise<void> {
  await kubectl('delete', 'namespace', name, '--timeout', '120s');
}

/** Applies objects of the API group of Boxgate in a namespace. */
export async function declare(namespace: string, objects: readonly Declared[]): Promise<void> {
  const items = objects.map(({ kind, name, spec }) => ({
    apiVersion: 'boxgate.dev/v1',
    kind,
    metadata: { name, namespace },
    spec,
  }));
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

/** An object to be applied. */
export interface Declared {
  readonly kind: 'Box' | 'Client' | 'AccessPolicy' | 'Group';
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
}
