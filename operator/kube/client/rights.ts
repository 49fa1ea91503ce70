import { AuthorizationV1Api } from '@kubernetes/client-node';
import { isObject } from '../../../crds/path.ts';
import { errorFacts, type Log } from '../../../program/log.ts';
import { schedule } from '../../../program/scheduling.ts';
import { tellInstallation } from '../source/event-recorder.ts';
import type { KubeApi } from './kube-api.ts';

/** A verb on a resource, as in RBAC. */
export interface NeededRight {
  readonly verb: string;
  readonly group: string;
  /** Resource with its subresource: `clients/status`. */
  readonly resource: string;
}

const kinds = ['clients', 'accesspolicies', 'boxes', 'groups'];

/** Cluster-wide rights that every reconciliation needs: the first rules of operator/rbac/cluster-role.yaml. */
export const NEEDED_RIGHTS: readonly NeededRight[] = [
  ...kinds.flatMap((resource) => rights('boxgate.dev', resource, ['get', 'list', 'watch', 'patch'])),
  ...kinds.flatMap((kind) => rights('boxgate.dev', `${kind}/status`, ['patch'])),
  ...rights('', 'namespaces', ['get', 'list', 'watch']),
];

function rights(group: string, resource: string, verbs: readonly string[]): readonly NeededRight[] {
  return verbs.map((verb) => ({ verb, group, resource }));
}

/** Returns the right as `kubectl auth can-i` names it: `list clients.boxgate.dev`. */
export function rightName({ verb, group, resource }: NeededRight): string {
  const [name = '', subresource] = resource.split('/');
  const full = group === '' ? name : `${name}.${group}`;
  return `${verb} ${subresource === undefined ? full : `${full}/${subresource}`}`;
}

/**
 * Returns the names of {@link NEEDED_RIGHTS} that the operator lacks, by the API server's rules for it in a namespace
 * (SelfSubjectRulesReview). If an authorizer cannot list rules, each right that is not listed is checked by itself
 * (SelfSubjectAccessReview). Throws KubeError.
 */
async function missingRights(api: KubeApi, namespace: string, signal: AbortSignal): Promise<readonly string[]> {
  const body = { spec: { namespace } };
  const review = await api.call((make) => make(AuthorizationV1Api).createSelfSubjectRulesReview({ body }), signal);
  const status = isObject(review) && isObject(review['status']) ? review['status'] : {};
  const rules = Array.isArray(status['resourceRules']) ? status['resourceRules'].filter(isObject) : [];
  const unlisted = NEEDED_RIGHTS.filter((right) => !rules.some((rule) => gives(rule, right)));
  if (status['incomplete'] !== true) return unlisted.map(rightName);
  const missing: string[] = [];
  for (const right of unlisted) if (!(await isAllowed(api, right, signal))) missing.push(rightName(right));
  return missing;
}

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

/** A right on one object. */
export interface RightOnObject extends NeededRight {
  readonly namespace: string;
  readonly name: string;
}

/** Asks the API server whether the operator has a right (SelfSubjectAccessReview). Throws KubeError. */
export async function isAllowed(
  api: KubeApi,
  { resource: path, ...right }: NeededRight | RightOnObject,
  signal: AbortSignal,
): Promise<boolean> {
  const [resource, subresource] = path.split('/');
  const resourceAttributes = {
    ...right,
    ...(resource === undefined ? {} : { resource }),
    ...(subresource === undefined ? {} : { subresource }),
  };
  const body = { spec: { resourceAttributes } };
  const answer = await api.call((make) => make(AuthorizationV1Api).createSelfSubjectAccessReview({ body }), signal);
  return isObject(answer) && isObject(answer['status']) && answer['status']['allowed'] === true;
}

/**
 * Returns the command that grants the operator the rights of the ClusterRole `boxgate-box` in a namespace; `account` is
 * its ServiceAccount, as `namespace:name`.
 */
export function roleBindingCommand(namespace: string, account: string): string {
  return `kubectl create rolebinding boxgate-box -n ${namespace} --clusterrole=boxgate-box --serviceaccount=${account}`;
}

/** Rights that the operator needs and lacks. */
interface RightsWatch {
  /** Returns the names of the missing rights: `list clients.boxgate.dev`; empty until some are known to be missing. */
  missing(): readonly string[];
}

/** Dependencies of following the operator's rights. */
export interface RightsFollower {
  /** Namespace of the operator and of its Lease. */
  readonly namespace: string;
  readonly leaseName: string;
  readonly kube: KubeApi;
  readonly instance: string;
  readonly log: Log;
  /** Called when none is missing any more. */
  readonly onReturn: () => void;
}

/** Milliseconds between two checks, and while a right is missing: waiting work resumes soon. */
const period = 5_000;
const hurried = 1_000;

/**
 * Checks the operator's rights for as long as it runs: a running watch continues without them, so nothing else would
 * show in time that statuses, finalizers or the next list are refused. Logs missing ones and reports them by an Event,
 * which is tried until it can be recorded. While there is no answer the last result stays. Stops when aborted.
 */
export function followRights(options: RightsFollower, signal: AbortSignal): RightsWatch {
  const { kube, namespace, log, onReturn } = options;
  let missing: readonly string[] = [];
  /** Missing rights that the last Event names. */
  let told = '';
  let cancel = (): void => undefined;

  function tell(now: string): void {
    told = now;
    if (now === '') return;
    const report = { reason: 'RightsMissing', message: lacking(missing), now: new Date() } as const;
    tellInstallation(kube, options, report, signal).catch((error: unknown) => {
      told = '';
      log.debug(errorFacts(error), 'an event is lost');
    });
  }

  async function look(): Promise<void> {
    const before = missing.join();
    const found = await missingRights(kube, namespace, signal).catch(() => missing);
    if (signal.aborted) return;
    missing = found;
    const now = missing.join();
    if (now !== before && now !== '') log.error({ missing }, 'rights of the operator are missing');
    if (now !== before && now === '') {
      log.info('the operator has its rights again');
      onReturn();
    }
    if (now !== told) tell(now);
    cancel = schedule(now === '' ? period : hurried, () => void look());
  }

  signal.addEventListener('abort', () => cancel(), { once: true });
  void look();
  return { missing: () => missing };
}

/** Returns a sentence that names the missing rights and what to do. */
export function lacking(missing: readonly string[]): string {
  const remedy = 'install its chart again (helm upgrade), or apply operator/rbac/cluster-role.yaml of its release';
  return `the operator may not ${missing.join(', ')}: ${remedy}`;
}
