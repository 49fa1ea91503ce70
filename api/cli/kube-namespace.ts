import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isList, isObject } from '../../crds/json-value.ts';
import type { Environment } from '../../process/environment.ts';

/**
 * Returns the namespace of the current context, read as kubectl does from the files of `KUBECONFIG`, or
 * `~/.kube/config`. Undefined if no namespace is set there, if there is no such file, or if it cannot be read as YAML.
 */
export async function kubeNamespace(environment: Environment, home: string): Promise<string | undefined> {
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
  const namespace = isObject(context) ? context['namespace'] : undefined;
  return typeof namespace === 'string' && namespace !== '' ? namespace : undefined;
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
