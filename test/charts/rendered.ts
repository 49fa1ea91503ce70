import { isList, isObject } from '../../crds/path.ts';
import { parseAllDocuments } from 'yaml';

/** An object of a rendered chart. */
export interface Manifest {
  readonly kind: string;
  readonly name: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Returns the objects of a text with manifests. Throws if one is not valid YAML. */
export function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    const object: unknown = document.toJS();
    if (!isObject(object) || !isObject(object['metadata'])) return [];
    return [{ kind: String(object['kind']), name: String(object['metadata']['name']), object }];
  });
}

/** Returns one object. Throws if there is none. */
export function manifestOf(all: readonly Manifest[], kind: string, name: string): Readonly<Record<string, unknown>> {
  const found = all.find((manifest) => manifest.kind === kind && manifest.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found.object;
}

/** Returns the value at a path of keys and indexes; undefined if there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (typeof key === 'number') return Array.isArray(inner) ? inner[key] : undefined;
    return isObject(inner) ? inner[key] : undefined;
  }, value);
}

/**
 * Returns the environment of the only container of a workload, as the kubelet makes it: `given` has what comes from
 * Secrets and the downward API, by the name of the variable.
 */
export function environmentOf(
  workload: unknown,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const env = at(workload, 'spec', 'template', 'spec', 'containers', 0, 'env');
  const environment: Record<string, string> = {};
  for (const variable of isList(env) ? env : []) {
    const name = String(at(variable, 'name'));
    const value = at(variable, 'value');
    const text = typeof value === 'string' ? value : (given[name] ?? '');
    environment[name] = text.replaceAll(/\$\((\w+)\)/g, (reference, other: string) => environment[other] ?? reference);
  }
  return environment;
}

/** Kinds that run pods, and the path of their template. */
const templates: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
  Pod: [],
};

/** Returns the pods, or pod templates, of manifests with the name of what runs them. */
export function podsOf(all: readonly Manifest[]): readonly { readonly name: string; readonly pod: unknown }[] {
  return all.flatMap(({ kind, name, object }) => {
    const path = templates[kind];
    return path === undefined ? [] : [{ name: `${kind} ${name}`, pod: at(object, ...path) }];
  });
}

/** Returns the claim templates of a StatefulSet as volumes, as each of its pods has them; of another kind, none. */
export function claimedVolumes(all: readonly Manifest[], workload: string): readonly object[] {
  const found = all.find(({ kind, name }) => `${kind} ${name}` === workload);
  const claims = at(found?.object, 'spec', 'volumeClaimTemplates');
  if (!isList(claims)) return [];
  return claims.map((claim) => ({ name: at(claim, 'metadata', 'name'), emptyDir: {} }));
}
