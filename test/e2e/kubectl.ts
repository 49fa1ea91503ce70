import { isList, isObject, parseJson, type JsonObject } from '../../crds/path.ts';
import { CommandError, runCommand } from './run-command.ts';

/** Runs kubectl in the cluster of the run and returns what it prints. Throws CommandError. */
export function kubectl(...parameters: readonly string[]): Promise<string> {
  return runCommand('kubectl', parameters);
}

/** Applies a manifest, or several with `---` between. Returns what kubectl prints. Throws CommandError. */
export function apply(manifest: string): Promise<string> {
  return runCommand('kubectl', ['apply', '--filename', '-'], { input: manifest });
}

/** An object's address: `kind/name`, and its namespace if it has one. */
export interface Address {
  readonly object: string;
  readonly namespace?: string;
}

/** Returns an object of the cluster. Throws CommandError if it is not there. */
export async function readObject({ object, namespace }: Address): Promise<JsonObject> {
  const text = await kubectl('get', object, ...inNamespace(namespace), '--output', 'json');
  const found = parseJson(text);
  if (!isObject(found)) throw new Error(`${object} is no object: ${text}`);
  return found;
}

/** Returns the objects of some kinds (with commas between), in one namespace or in all. */
export async function listObjects(
  kinds: string,
  { namespace, selector = '' }: { readonly namespace?: string; readonly selector?: string } = {},
): Promise<readonly JsonObject[]> {
  const where = namespace === undefined ? ['--all-namespaces'] : inNamespace(namespace);
  const list = parseJson(await kubectl('get', kinds, ...where, '--selector', selector, '--output', 'json'));
  const items = isObject(list) ? list['items'] : undefined;
  return isList(items) ? items.filter(isObject) : [];
}

/** Checks whether an object is there. Throws CommandError if the cluster cannot be asked. */
export async function exists({ object, namespace }: Address): Promise<boolean> {
  try {
    await kubectl('get', object, ...inNamespace(namespace), '--output', 'name');
    return true;
  } catch (error) {
    if (error instanceof CommandError && error.said.includes('NotFound')) return false;
    throw error;
  }
}

/** Returns the text at a path of an object; undefined if nothing or something else is there. */
export function textAt(value: unknown, ...keys: readonly string[]): string | undefined {
  const found = valueAt(value, ...keys);
  return typeof found === 'string' ? found : undefined;
}

/** Returns the value at a path of an object; undefined if there is none. */
export function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value);
}

/** Returns the name of an object. */
export function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name') ?? '';
}

/** Waits until objects are Ready. */
export async function untilReady(kinds: string, namespace: string): Promise<void> {
  await kubectl('wait', '--for=condition=Ready', kinds, '--all', '--namespace', namespace, '--timeout', '240s');
}

/** Waits until a Deployment or StatefulSet is as declared. */
export async function untilRolledOut(object: string, namespace: string): Promise<void> {
  await kubectl('rollout', 'status', object, '--namespace', namespace, '--timeout', '280s');
}

function inNamespace(namespace: string | undefined): readonly string[] {
  return namespace === undefined ? [] : ['--namespace', namespace];
}
