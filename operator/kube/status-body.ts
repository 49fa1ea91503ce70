import { isDeepStrictEqual } from 'node:util';
import type { ClientUsage } from '../../api/client/desired-state.ts';
import { isRecord } from '../../crds/schema-node.ts';
import type { Columns, Condition, ObjectStatus } from '../object-status.ts';
import { isConditionType } from '../reasons.ts';

/** The status of a custom resource as we write it; what is undefined is left out, and taken away where it was. */
export type StatusBody = Readonly<Record<string, unknown>> & { readonly conditions: readonly Condition[] };

/**
 * What is to be written of a status over the one that is in the cluster, undefined when that says it all. Fields that are
 * `unwritable`, because the definition does not declare them, are left out. A condition whose status did not flip keeps the
 * time it has there, also when the one who wrote it was another process.
 */
export function statusToWrite(
  status: ObjectStatus,
  there: unknown,
  unwritable: ReadonlySet<string> = nothing,
): StatusBody | undefined {
  const live = isRecord(there) ? there : {};
  const known = ownConditions(live['conditions']);
  const conditions = status.conditions.map((one) => withTimeOf(one, known));
  const fields = writable(fieldsOf(status.columns, live), unwritable);
  const body = { observedGeneration: status.observedGeneration, ...fields, conditions };
  const isSame = Object.entries(body).every(([name, value]) =>
    isDeepStrictEqual(value, name === 'conditions' ? known : live[name]),
  );
  return isSame ? undefined : body;
}

const nothing: ReadonlySet<string> = new Set();

/** Leaves out the fields that these paths name, or anything below them: half of a field is not written. */
function writable(fields: Record<string, unknown>, paths: ReadonlySet<string>): Record<string, unknown> {
  // Nearly always: of twenty thousand statuses no copy is made.
  if (paths.size === 0) return fields;
  const omitted = new Set([...paths].map((path) => path.split(/[.[]/)[0]));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !omitted.has(name)));
}

/** Longer ones are cut: the API server would refuse the whole status (crds/status.ts). */
const longest = { message: 32_768, id: 128 };

function withTimeOf(condition: Condition, known: readonly Record<string, unknown>[]): Condition {
  const before = known.find(({ type }) => type === condition.type);
  const time = before?.['lastTransitionTime'];
  const isAsBefore = before?.['status'] === condition.status && typeof time === 'string';
  const lastTransitionTime = isAsBefore ? time : condition.lastTransitionTime;
  return { ...condition, message: condition.message.slice(0, longest.message), lastTransitionTime };
}

/** Other writers may have added conditions of other types. */
function ownConditions(value: unknown): readonly Record<string, unknown>[] {
  const all = Array.isArray(value) ? value.filter(isRecord) : [];
  return all.filter(({ type }) => isConditionType(type));
}

function fieldsOf(columns: Columns, live: Readonly<Record<string, unknown>>): Record<string, unknown> {
  switch (columns.kind) {
    case 'Client': {
      const { id, grants, secret, secretName, policies, serviceAccounts, usage } = columns;
      return {
        id: givenId(id),
        grants: given(grants),
        secret: given(secret),
        secretName: given(secretName),
        policies,
        serviceAccounts: serviceAccounts.length === 0 ? undefined : serviceAccounts,
        ...usageOf(usage, live),
      };
    }
    case 'AccessPolicy': {
      const { id, subjects, resolvedLinks, danglingLinks } = columns;
      return { id: givenId(id), subjects: given(subjects), resolvedLinks, danglingLinks };
    }
    case 'Box':
      return {
        issuer: given(columns.issuer),
        clients: columns.clients,
        policies: columns.policies,
        // A box begins with none.
        users: columns.users ?? live['users'] ?? 0,
      };
  }
}

/** What nobody has asked yet stays as it is: a restart is no news. */
function usageOf(usage: ClientUsage | undefined, live: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { sessions, lastTokenAt, previousSecretLastUsed } = live;
  if (usage === undefined) return { sessions, lastTokenAt, previousSecretLastUsed };
  // It has nothing to tell: no write for that alone.
  const isUnused = usage.live_sessions === 0 && sessions === undefined;
  return {
    sessions: isUnused ? undefined : usage.live_sessions,
    // The sessions that told it may be gone for long.
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
