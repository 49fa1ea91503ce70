import { conditionsOf, faultsOf, type Verdict } from './conditions.ts';
import type { ReconcileResult } from './reconcile-result.ts';
import type { ValidatedObject, Traits } from '../desired/validate.ts';
import { linkNames } from '../desired/desired.ts';
import type { Columns, Condition, ObjectStatus } from './object-status.ts';
import { secretColumn, secretName } from '../secrets/resolve.ts';

/** Status of a condition, and the time at which it took that status. */
export type Transition = Pick<Condition, 'type' | 'status' | 'lastTransitionTime'>;

/** Pool of the lists built so far: ten thousand clients that became Ready at once share one. */
export class TransitionPool {
  readonly #lists = new Map<string, readonly Transition[]>();

  /** Returns the statuses and times of these conditions: a new list, or an equal one built before. */
  of(conditions: readonly Condition[]): readonly Transition[] {
    const transitions = conditions.map(({ type, status, lastTransitionTime }) => ({
      type,
      status,
      lastTransitionTime,
    }));
    const key = transitions.map((transition) => Object.values(transition).join()).join();
    const list = this.#lists.get(key) ?? transitions;
    this.#lists.set(key, list);
    return list;
  }
}

/** Returns the conditions of an object; `now` (RFC 3339) stamps only those whose status changed since `previous`. */
export function withTransitionTimes(
  input: ReconcileResult,
  previous: readonly Transition[],
  now: string,
): readonly Condition[] {
  const { generation } = input.desired.object;
  return conditionsOf(input).map((verdict) => withTransitionTime(verdict, generation, previous, now));
}

function withTransitionTime(
  verdict: Verdict,
  generation: number,
  previous: readonly Transition[],
  now: string,
): Condition {
  const before = previous.find(({ type }) => type === verdict.type);
  const lastTransitionTime = before?.status === verdict.status ? before.lastTransitionTime : now;
  return { ...verdict, observedGeneration: generation, lastTransitionTime };
}

/** Returns the status of an object as it is published. Pure. */
export function statusOf(input: ReconcileResult, conditions: readonly Condition[]): ObjectStatus {
  const { kind, namespace, name, uid, place, generation } = input.desired.object;
  const faults = faultsOf(input);
  return {
    kind,
    namespace,
    name,
    uid,
    place,
    observedGeneration: generation,
    conditions,
    columns: columnsOf(input),
    faults,
  };
}

function columnsOf(input: ReconcileResult): Columns {
  const { desired, policies, clients, dangling, usage, users, members, lastUsed, accounts } = input;
  const { issuer, inClusterTokenUrl } = input;
  const { object, validated } = desired;
  const { traits, id, secret } = validated;
  switch (object.kind) {
    case 'Client': {
      const grants = traits.kind === 'Client' ? traits.grants.join(',') || 'none' : '';
      const named = secretName(secret, object.name) ?? '';
      const serviceAccounts = accounts.map(({ namespace, name, uid }) => ({ namespace, name, uid }));
      return {
        kind: 'Client',
        id,
        grants,
        secret: secretColumn(secret),
        secretName: named,
        issuer,
        inClusterTokenUrl,
        policies,
        serviceAccounts,
        usage,
      };
    }
    case 'AccessPolicy':
      return { kind: 'AccessPolicy', id, ...subjectsOf(traits), ...listedLinks(validated, dangling), lastUsed };
    case 'Group':
      return { kind: 'Group', name: id, members };
    case 'Box':
      return { kind: 'Box', issuer, inClusterTokenUrl, clients, policies, users, admin: adminOf(validated) };
  }
}

function adminOf({ traits, secret }: ValidatedObject): Extract<Columns, { kind: 'Box' }>['admin'] {
  if (traits.kind !== 'Box' || traits.admin === undefined || secret.from !== 'reference') return undefined;
  return { email: traits.admin, secret: secret.name };
}

function subjectsOf(traits: Traits): { readonly engine: string; readonly subjects: string } {
  if (traits.kind !== 'AccessPolicy') return { engine: '', subjects: '' };
  const { engine, subjects, links } = traits;
  return { engine, subjects: subjects === 'linked' ? String(links.length) : subjects };
}

function listedLinks(validated: ValidatedObject, dangling: readonly string[]) {
  const isDangling = new Set(dangling);
  const resolvedLinks = linkNames(validated).filter((name) => !isDangling.has(name));
  return { resolvedLinks, danglingLinks: dangling };
}
