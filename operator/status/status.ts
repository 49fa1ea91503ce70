import { conditionsOf, faultsOf, type Verdict } from './conditions.ts';
import type { ReconcileResult } from './reconcile-result.ts';
import type { ValidatedObject, Traits } from '../desired/validate.ts';
import { linkNames } from '../desired/desired.ts';
import type { Columns, Condition, ObjectStatus } from './object-status.ts';
import { secretColumn, secretName } from '../secrets/resolve.ts';
import type { Kind } from '../../crds/kind.ts';
import type { Identity } from '../desired/declared.ts';
import { type Reason, NEXT_STEPS } from './reasons.ts';
import type { Desired, Candidate } from '../desired/desired.ts';

/** An event of an object, for people: `kubectl describe` shows it below the object. */
export interface ObjectEvent {
  readonly object: Identity & { readonly kind: Kind };
  /** `Warning`: somebody should look. */
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase. */
  readonly reason: string;
  /** A sentence; never a secret, nor anything of another namespace. */
  readonly message: string;
  /** True if the status of the object says the same: a program that shows statuses need not show the event. */
  readonly isInStatus?: true;
}

/** A recorder of events for people. Nothing depends on it: an event may be lost, and a record never fails or waits. */
export interface EventRecorder {
  record(event: ObjectEvent): void;
}

/**
 * Records that an object is not Ready, as a warning with the reason and message of its condition: when it ceases to be,
 * is new, or has another reason. Records that it is Ready again. `before` is the status that was published last. A
 * reason that passes by itself is no news of the object: it concerns all objects at once.
 */
export function recordReadiness(before: ObjectStatus | undefined, now: ObjectStatus, events: EventRecorder): void {
  const [was, is] = [readyOf(before), readyOf(now)];
  if (is === undefined || passing.has(is.reason) || (is.status === 'True' && passing.has(was?.reason ?? ''))) return;
  const { kind, namespace, name, uid } = now;
  const said = { object: { kind, namespace, name, uid }, reason: is.reason, isInStatus: true } as const;
  if (is.status === 'False' && (was?.status !== 'False' || was.reason !== is.reason)) {
    events.record({ ...said, type: 'Warning', message: is.message });
  } else if (is.status === 'True' && was?.status === 'False') {
    events.record({ ...said, type: 'Normal', message: `It is Ready again, after ${was.reason}` });
  }
}

/** Reasons that the operator removes without anybody's help. An outage of the API has an event of its own. */
const passing: ReadonlySet<string> = new Set<Reason>(['SecretNotRead', 'Unavailable', 'Waiting']);

function readyOf(status: ObjectStatus | undefined): Condition | undefined {
  return status?.conditions.find(({ type }) => type === 'Ready');
}

/** Fault of a quota annotation, the one that the last event told, and where the next event goes. */
interface QuotaFault {
  readonly fault: string | undefined;
  readonly before: string | undefined;
  readonly events: EventRecorder;
}

/**
 * Records a Warning event when the quota annotation of a Namespace cannot be read, once for each mistake: about its
 * Box, or if there is none about its oldest object. Returns the fault that is told now; without any object, as before.
 */
export function recordQuotaFault(
  box: string,
  candidates: readonly Candidate[],
  { fault, before, events }: QuotaFault,
): string | undefined {
  if (fault === before) return before;
  const object = (candidates.find((one) => one.object.kind === 'Box') ?? oldest(candidates))?.object;
  if (object === undefined) return before;
  if (fault === undefined) return undefined;
  const { kind, name, uid } = object;
  const message = `${fault}. ${NEXT_STEPS.QuotaNotReadable}`;
  events.record({ object: { kind, namespace: box, name, uid }, type: 'Warning', reason: 'QuotaNotReadable', message });
  return fault;
}

function oldest(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.reduce<Candidate | undefined>(
    (first, one) => (first === undefined || one.object.created < first.object.created ? one : first),
    undefined,
  );
}

/**
 * Records an event for each client whose secret is in the object itself: when it appears there, and not again while it
 * stays. `before` has the objects of the last pass, by object key; a new process records the event once more.
 */
export function recordInlineSecrets(
  box: string,
  candidates: readonly Candidate[],
  before: ReadonlyMap<string, Desired>,
  events: EventRecorder,
): void {
  for (const { object, validated } of candidates) {
    if (validated.secret.from !== 'inline') continue;
    const known = before.get(object.key);
    if (known?.object.uid === object.uid && known.validated.secret.from === 'inline') continue;
    const { name, uid } = object;
    events.record({
      object: { kind: 'Client', namespace: box, name, uid },
      type: 'Warning',
      reason: 'InlineSecret',
      message: `spec.secret is for development only. ${NEXT_STEPS.SecretInManifest}`,
      isInStatus: true,
    });
  }
}

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
  const { issuer, inClusterTokenUrl, database } = input;
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
      return { kind: 'Box', issuer, inClusterTokenUrl, database, clients, policies, users, admin: adminOf(validated) };
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
