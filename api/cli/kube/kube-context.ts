import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isList, isObject } from '../../../crds/json-value.ts';
import type { Environment } from '../../../process/environment.ts';

/** The current context of kubectl. */
export interface KubeContext {
  /** Its namespace; undefined if it names none. */
  readonly namespace: string | undefined;
}

/**
 * Returns the current context, read as kubectl does from the files of `KUBECONFIG`, or `~/.kube/config`. Undefined if
 * there is no such file, if it cannot be read as YAML, or if it has no current context.
 */
export async function kubeContext(environment: Environment, home: string): Promise<KubeContext | undefined> {
  const named = (environment['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '');
  const files = named.length > 0 ? named : [path.join(home, '.kube', 'config')];
  const configs = (await Promise.all(files.map(readConfig))).filter(isObject);
  // The first file that sets a value wins (kubectl's rule for several files).
  const current = configs
    .map((config) => config['current-context'])
    .find((name) => typeof name === 'string' && name !== '');
  const context = configs
    .flatMap((config) => (isList(config['contexts']) ? config['contexts'] : []))
    .filter(isObject)
    .find(({ name }) => name === current)?.['context'];
  if (!isObject(context)) return undefined;
  const { namespace } = context;
  return { namespace: typeof namespace === 'string' && namespace !== '' ? namespace : undefined };
}

async function readConfig(file: string): Promise<unknown> {
  try {
    const text = await readFile(file, 'utf8');
    const { parse } = await import('yaml');
    const config: unknown = parse(text);
    return config;
  } catch {
    return undefined;
  }
}
