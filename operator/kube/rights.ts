import { isRecord } from '../../crds/schema-node.ts';
import type { KubeApi } from './kube-api.ts';

/** A verb on a resource, as RBAC has it. */
export interface NeededRight {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `clients/status`. */
  readonly resource: string;
}

const kinds = ['clients', 'accesspolicies', 'boxes'];

/** What nothing is reconciled without, in the whole cluster: the first rules of operator/rbac/cluster-role.yaml. */
export const NEEDED_RIGHTS: readonly NeededRight[] = [
  ...kinds.flatMap((resource) => rights('boxgate.dev', resource, ['get', 'list', 'watch', 'patch'])),
  ...kinds.flatMap((kind) => rights('boxgate.dev', `${kind}/status`, ['patch'])),
  ...rights('', 'namespaces', ['get', 'list', 'watch']),
];

function rights(group: string, resource: string, verbs: readonly string[]): readonly NeededRight[] {
  return verbs.map((verb) => ({ verb, group, resource }));
}

/** The right as `kubectl auth can-i` names it: `list clients.boxgate.dev`. */
export function rightName({ verb, group, resource }: NeededRight): string {
  const [name = '', subresource] = resource.split('/');
  const full = group === '' ? name : `${name}.${group}`;
  return `${verb} ${subresource === undefined ? full : `${full}/${subresource}`}`;
}

/**
 * Returns the names of {@link NEEDED_RIGHTS} that the operator lacks, by what the API server says of its rules in a namespace
 * (SelfSubjectRulesReview). Where an authorizer cannot list rules, each of those that are not listed is asked for by itself
 * (SelfSubjectAccessReview). Throws KubeError.
 */
export async function missingRights(api: KubeApi, namespace: string, signal: AbortSignal): Promise<readonly string[]> {
  const review = await api.call(
    { method: 'POST', path: `${REVIEWS}/selfsubjectrulesreviews`, body: { spec: { namespace } } },
    signal,
  );
  const status = isRecord(review) && isRecord(review['status']) ? review['status'] : {};
  const rules = Array.isArray(status['resourceRules']) ? status['resourceRules'].filter(isRecord) : [];
  const unlisted = NEEDED_RIGHTS.filter((right) => !rules.some((rule) => gives(rule, right)));
  if (status['incomplete'] !== true) return unlisted.map(rightName);
  const missing: string[] = [];
  for (const right of unlisted) if (!(await isAllowed(api, right, signal))) missing.push(rightName(right));
  return missing;
}

/** Where the API server is asked for rights. */
export const REVIEWS = '/apis/authorization.k8s.io/v1';

function gives(rule: Readonly<Record<string, unknown>>, { verb, group, resource }: NeededRight): boolean {
  const has = (member: string, ...wanted: readonly string[]): boolean => {
    const all: readonly unknown[] = Array.isArray(rule[member]) ? rule[member] : [];
    return all.some((one) => one === '*' || wanted.some((text) => text === one));
  };
  const byName: unknown = rule['resourceNames'];
  if (Array.isArray(byName) && byName.length > 0) return false;
  const subresource = resource.split('/')[1];
  const any = subresource === undefined ? [] : [`*/${subresource}`];
  return has('verbs', verb) && has('apiGroups', group) && has('resources', resource, ...any);
}

async function isAllowed(api: KubeApi, right: NeededRight, signal: AbortSignal): Promise<boolean> {
  const [resource, subresource] = right.resource.split('/');
  const resourceAttributes = {
    verb: right.verb,
    group: right.group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
  };
  const answer = await api.call(
    { method: 'POST', path: `${REVIEWS}/selfsubjectaccessreviews`, body: { spec: { resourceAttributes } } },
    signal,
  );
  return isRecord(answer) && isRecord(answer['status']) && answer['status']['allowed'] === true;
}
