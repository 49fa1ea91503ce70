import { isObject } from '../../../crds/path.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ClientUsage } from '../../../api/client/desired-state.ts';
import type { Columns, Condition, ObjectStatus } from '../../status/object-status.ts';
import { isConditionType } from '../../status/reasons.ts';

/** Status of a custom resource as we write it; an undefined field is left out, and removed if it existed. */
export type StatusBody<C = Condition> = Readonly<Record<string, unknown>> & { readonly conditions: readonly C[] };

/**
 * Returns what to write over the status that is in the cluster, undefined if that says it all. Fields in `unwritable`,
 * which the definition does not declare, are left out. A condition whose status did not change keeps its time in the
 * cluster, even if another process wrote it.
 */
export function statusToWrite(
  status: ObjectStatus,
  there: unknown,
  unwritable: ReadonlySet<string> = nothing,
): StatusBody | undefined {
  const live = isObject(there) ? there : {};
  const known = ownConditions(live['conditions']);
  const conditions = status.conditions.map((one) => withTimeOf(one, known));
  const fields = writable(fieldsOf(status.columns, live), unwritable);
  const body = { observedGeneration: status.observedGeneration, ...fields, conditions };
  const isSame = Object.entries(body).every(([name, value]) =>
    isDeepStrictEqual(value, name === 'conditions' ? known : live[name]),
  );
  return isSame ? undefined : body;
}

/** Returns the status of an object after `body` was written over `there`; fields and conditions of others stay. */
export function statusAfter(body: StatusBody<object>, there: unknown): object {
  const live = isObject(there) ? there : {};
  const all: readonly unknown[] = Array.isArray(live['conditions']) ? live['conditions'] : [];
  const others = all.filter((one) => !isOwnCondition(one));
  return { ...live, ...body, conditions: [...body.conditions, ...others] };
}

/** A condition Ready that is not true; its time is that of the change, unless the status was False before. */
export type NotReady = Pick<Condition, 'reason' | 'message' | 'lastTransitionTime'>;

/** Returns the status that is in the cluster with another condition Ready; undefined if it says the same already. */
export function withNotReady(
  there: unknown,
  notReady: NotReady,
  observedGeneration: number,
): StatusBody<object> | undefined {
  const live = isObject(there) ? there : {};
  const known = ownConditions(live['conditions']);
  const ready = withTimeOf({ ...notReady, type: 'Ready', status: 'False', observedGeneration }, known);
  const before = known.find(({ type }) => type === 'Ready');
  if (isDeepStrictEqual(before, ready)) return undefined;
  return { ...live, observedGeneration, conditions: [ready, ...known.filter((one) => one !== before)] };
}

const nothing: ReadonlySet<string> = new Set();

/** Leaves out the fields that these paths name, or anything below them: half of a field is not written. */
function writable(fields: Record<string, unknown>, paths: ReadonlySet<string>): Record<string, unknown> {
  // Nearly always: no copies of twenty thousand statuses.
  if (paths.size === 0) return fields;
  const omitted = new Set([...paths].map((path) => path.split(/[.[]/)[0]));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !omitted.has(name)));
}

/**
 * Limits in characters, which the API server enforces (crds/status.ts): a longer message is cut, a longer id omitted.
 */
const longest = { message: 32_768, id: 128 };

function withTimeOf(condition: Condition, known: readonly Record<string, unknown>[]): Condition {
  const before = known.find(({ type }) => type === condition.type);
  const time = before?.['lastTransitionTime'];
  const isAsBefore = before?.['status'] === condition.status && typeof time === 'string';
  const lastTransitionTime = isAsBefore ? time : condition.lastTransitionTime;
  return { ...condition, message: condition.message.slice(0, longest.message), lastTransitionTime };
}

/** Returns the conditions of our types: other writers may have added others. */
function ownConditions(value: unknown): readonly Record<string, unknown>[] {
  const all = Array.isArray(value) ? value.filter(isObject) : [];
  return all.filter(isOwnCondition);
}

function isOwnCondition(value: unknown): boolean {
  return isObject(value) && isConditionType(value['type']);
}

function fieldsOf(columns: Columns, live: Readonly<Record<string, unknown>>): Record<string, unknown> {
  switch (columns.kind) {
    case 'Client': {
      const { id, grants, secret, secretName, issuer, inClusterTokenUrl, policies, serviceAccounts, usage } = columns;
      return {
        id: givenId(id),
        grants: given(grants),
        secret: given(secret),
        secretName: given(secretName),
        issuer: given(issuer),
        inClusterTokenUrl: given(inClusterTokenUrl),
        policies,
        serviceAccounts: serviceAccounts.length === 0 ? undefined : serviceAccounts,
        ...usageOf(usage, live),
      };
    }
    case 'AccessPolicy': {
      const { id, subjects, resolvedLinks, danglingLinks, lastUsed = live['lastUsed'] } = columns;
      return { id: givenId(id), subjects: given(subjects), resolvedLinks, danglingLinks, lastUsed };
    }
    case 'Group':
      return { name: givenId(columns.name), members: columns.members ?? live['members'] ?? 0 };
    case 'Box':
      return {
        issuer: given(columns.issuer),
        inClusterTokenUrl: given(columns.inClusterTokenUrl),
        database: columns.database ?? live['database'],
        clients: columns.clients,
        policies: columns.policies,
        // A new box has none.
        users: columns.users ?? live['users'] ?? 0,
      };
  }
}

/** Returns the fields of the usage; those that were not read yet stay as they are, so that a restart writes nothing. */
function usageOf(usage: ClientUsage | undefined, live: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { sessions, lastTokenAt, previousSecretLastUsed } = live;
  if (usage === undefined) return { sessions, lastTokenAt, previousSecretLastUsed };
  // There is nothing to report: no write for that alone.
  const isUnused = usage.live_sessions === 0 && sessions === undefined;
  return {
    sessions: isUnused ? undefined : usage.live_sessions,
    // The sessions that showed it may have ended long ago.
    lastTokenAt: usage.last_token_at ?? lastTokenAt,
    previousSecretLastUsed: usage.previous_secret_last_used,
  };
}

function givenId(id: string): string | undefined {
  return id.length > longest.id ? undefined : given(id);
}

function given(text: string): string | undefined {
  return text === '' ? undefined : text;
}
