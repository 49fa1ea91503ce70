import { isObject } from '../../../../crds/path.ts';
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/** One thing that the operator may do: a verb on a resource, or on a path. */
export interface Right {
  /** `patch boxgate.dev/clients/status`, `get /openid/v1/jwks`. */
  readonly name: string;
  readonly verb: string;
  /** Undefined for a path. */
  readonly group: string | undefined;
  /** A resource with its subresource, or a path. */
  readonly resource: string;
  /** Name of an object, where it may touch some by name only. */
  readonly object: string | undefined;
  readonly role: RoleName;
}

/** A role of ours, as the API server has it. */
export interface RoleName {
  readonly kind: 'ClusterRole' | 'Role';
  readonly name: string;
  readonly namespace: string | undefined;
}

const files = ['cluster-role.yaml', 'role.yaml', 'cluster-role-box.yaml'].map((file) => `operator/rbac/${file}`);

/** Every role that operator/rbac defines, with its rules. */
export function declaredRoles(): readonly { readonly role: RoleName; readonly rules: unknown }[] {
  return files.flatMap(objectsIn).flatMap((object) => {
    const { kind, metadata, rules } = isObject(object) ? object : {};
    if ((kind !== 'ClusterRole' && kind !== 'Role') || !isObject(metadata)) return [];
    const { name, namespace } = metadata;
    return typeof name === 'string' ? [{ role: { kind, name, namespace: textOr(namespace) }, rules }] : [];
  });
}

/** Every right that operator/rbac gives. */
export function declaredRights(): readonly Right[] {
  return declaredRoles().flatMap(({ role, rules }) => rightsIn(rules, role));
}

/** Returns the rights that rules grant. */
export function rightsIn(rules: unknown, role: RoleName): readonly Right[] {
  return rulesIn(rules).flatMap((rule) => {
    const verbs = texts(rule['verbs']);
    const [object] = texts(rule['resourceNames']);
    const paths = texts(rule['nonResourceURLs']).flatMap((resource) =>
      verbs.map((verb) => ({ name: `${verb} ${resource}`, verb, group: undefined, resource, object, role })),
    );
    const resources = texts(rule['apiGroups']).flatMap((group) =>
      texts(rule['resources']).flatMap((resource) =>
        verbs.map((verb) => ({ name: `${verb} ${group}/${resource}`, verb, group, resource, object, role })),
      ),
    );
    return [...paths, ...resources];
  });
}

/** These rules without one right. */
export function rulesWithout(
  rules: unknown,
  { verb, group, resource }: Pick<Right, 'verb' | 'group' | 'resource'>,
): readonly object[] {
  return rulesIn(rules).flatMap((rule) => {
    const member = group === undefined ? 'nonResourceURLs' : 'resources';
    const isAbout = texts(rule[member]).includes(resource) && (group === undefined || isOf(rule, group));
    if (!isAbout) return [rule];
    const others = texts(rule[member]).filter((one) => one !== resource);
    const verbs = texts(rule['verbs']).filter((one) => one !== verb);
    return [
      ...(others.length === 0 ? [] : [{ ...rule, [member]: others }]),
      ...(verbs.length === 0 ? [] : [{ ...rule, [member]: [resource], verbs }]),
    ];
  });
}

/** Returns the API path of a role. */
export function pathOfRole({ kind, name, namespace }: RoleName): string {
  const below = kind === 'ClusterRole' ? 'clusterroles' : `namespaces/${namespace ?? ''}/roles`;
  return `/apis/rbac.authorization.k8s.io/v1/${below}/${name}`;
}

function isOf(rule: Readonly<Record<string, unknown>>, group: string): boolean {
  return texts(rule['apiGroups']).includes(group);
}

function objectsIn(file: string): readonly unknown[] {
  const objects: unknown[] = [];
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const object: unknown = document.toJS();
    objects.push(object);
  }
  return objects;
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function rulesIn(rules: unknown): Record<string, unknown>[] {
  return Array.isArray(rules) ? rules.filter(isObject) : [];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
