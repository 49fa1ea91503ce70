import { isObject } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import type { BoxUsage, ClientLastUse, ClientUsage, GroupUsage, LastUses, PolicyLastUse } from './desired-state.ts';
import { ManagementError } from './management-error.ts';

/** Reads the answer to a request for usage. Throws ManagementError for nonsense. */
export function usageOf(answer: unknown): BoxUsage {
  if (!isObject(answer) || typeof answer['users'] !== 'number') throw nonsense();
  const { clients, users, groups, policies, next } = answer;
  if (next !== undefined && typeof next !== 'string') throw nonsense();
  return {
    clients: listOf(clients, usedClient),
    users,
    groups: listOf(groups, usedGroup),
    policies: listOf(policies, usedPolicy),
    ...(next === undefined ? {} : { next }),
  };
}

/** Reads the answer to a request for the last use. Throws ManagementError for nonsense. */
export function lastUsesOf(answer: unknown): LastUses {
  if (!isObject(answer)) throw nonsense();
  return { clients: listOf(answer['clients'], lastUse) };
}

function listOf<T>(list: unknown, read: (entry: JsonObject) => T): readonly T[] {
  if (!Array.isArray(list)) throw nonsense();
  return list.map((entry: unknown) => {
    if (!isObject(entry)) throw nonsense();
    return read(entry);
  });
}

function usedGroup({ name, members }: JsonObject): GroupUsage {
  if (typeof name !== 'string' || typeof members !== 'number') throw nonsense();
  return { name, members };
}

function usedPolicy({ id, last_used_at }: JsonObject): PolicyLastUse {
  if (typeof id !== 'string' || typeof last_used_at !== 'string') throw nonsense();
  return { id, last_used_at };
}

function usedClient(client: JsonObject): ClientUsage {
  const { live_sessions } = client;
  if (typeof live_sessions !== 'number') throw nonsense();
  return { ...lastUse(client), live_sessions };
}

function lastUse({ id, last_token_at, previous_secret_last_used }: JsonObject): ClientLastUse {
  if (typeof id !== 'string') throw nonsense();
  return {
    id,
    ...(typeof last_token_at === 'string' ? { last_token_at } : {}),
    ...(typeof previous_secret_last_used === 'string' ? { previous_secret_last_used } : {}),
  };
}

function nonsense(): ManagementError {
  return new ManagementError('refused', 'the API answered a usage that is not understood');
}
