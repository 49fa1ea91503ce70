import { isObject, parseJson } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import type { Fault } from '../../crds/fault.ts';
import { isKind } from '../../crds/kind.ts';
import { isQuotaName } from '../../crds/quota.ts';
import { APPLY_VERDICTS, type Applied, type ApplyProgress, type ApplyResult, type Owner } from './desired-state.ts';
import { ManagementError, refusal } from './management-error.ts';
import type { BoxUsage, ClientLastUse, ClientUsage, GroupUsage, LastUses, PolicyLastUse } from './desired-state.ts';

/** One line of the answer to an apply call. */
export type AnswerLine = ApplyProgress | ApplyResult | Applied;

/** Reads one line of an answer. Throws ManagementError for the line with the reason of a refusal, and for nonsense. */
export function parseAnswerLine(text: string): AnswerLine {
  const line = parseJson(text);
  if (!isObject(line)) throw nonsense(text);
  if ('error' in line) throw refusal(200, line);
  return progressOf(line) ?? appliedOf(line) ?? resultOf(line) ?? fail(text);
}

function progressOf({ progress }: JsonObject): ApplyProgress | undefined {
  if (!isObject(progress) || typeof progress['done'] !== 'number' || typeof progress['of'] !== 'number')
    return undefined;
  return { progress: { done: progress['done'], of: progress['of'] } };
}

function appliedOf({ box, config_version }: JsonObject): Applied | undefined {
  if (typeof box !== 'string' || typeof config_version !== 'number') return undefined;
  return { box, config_version };
}

function resultOf({ kind, id, result, faults, detail, owner, retain, quota }: JsonObject): ApplyResult | undefined {
  const verdict = APPLY_VERDICTS.find((known) => known === result);
  if (!isKind(kind) || typeof id !== 'string' || verdict === undefined) return undefined;
  const declaredBy = ownerOf(owner);
  return {
    kind,
    id,
    result: verdict,
    ...(Array.isArray(faults) ? { faults: faults.flatMap(faultOf) } : {}),
    ...(typeof detail === 'string' ? { detail } : {}),
    ...(declaredBy === undefined ? {} : { owner: declaredBy }),
    ...(retain === true ? { retain } : {}),
    ...(typeof quota === 'string' && isQuotaName(quota) ? { quota } : {}),
  };
}

function faultOf(fault: unknown): Fault[] {
  if (!isObject(fault)) return [];
  const { path, message } = fault;
  return typeof path === 'string' && typeof message === 'string' ? [{ path, message }] : [];
}

function ownerOf(owner: unknown): Owner | undefined {
  if (!isObject(owner)) return undefined;
  const { name, uid } = owner;
  return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : undefined;
}

function fail(text: string): never {
  throw nonsense(text);
}

/** Creates the error for a line that is not understood. The text is not shown, because it may contain anything. */
function nonsense(text: string): ManagementError {
  return new ManagementError(
    'refused',
    `the API answered a line of ${String(text.length)} characters that is not understood`,
  );
}

/** Reads the answer to a request for usage. Throws ManagementError for nonsense. */
export function usageOf(answer: unknown): BoxUsage {
  if (!isObject(answer) || typeof answer['users'] !== 'number') throw notUnderstood();
  const { clients, users, groups, policies, next } = answer;
  if (next !== undefined && typeof next !== 'string') throw notUnderstood();
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
  if (!isObject(answer)) throw notUnderstood();
  return { clients: listOf(answer['clients'], lastUse) };
}

function listOf<T>(list: unknown, read: (entry: JsonObject) => T): readonly T[] {
  if (!Array.isArray(list)) throw notUnderstood();
  return list.map((entry: unknown) => {
    if (!isObject(entry)) throw notUnderstood();
    return read(entry);
  });
}

function usedGroup({ name, members }: JsonObject): GroupUsage {
  if (typeof name !== 'string' || typeof members !== 'number') throw notUnderstood();
  return { name, members };
}

function usedPolicy({ id, last_used_at }: JsonObject): PolicyLastUse {
  if (typeof id !== 'string' || typeof last_used_at !== 'string') throw notUnderstood();
  return { id, last_used_at };
}

function usedClient(client: JsonObject): ClientUsage {
  const { live_sessions } = client;
  if (typeof live_sessions !== 'number') throw notUnderstood();
  return { ...lastUse(client), live_sessions };
}

function lastUse({ id, last_token_at, previous_secret_last_used }: JsonObject): ClientLastUse {
  if (typeof id !== 'string') throw notUnderstood();
  return {
    id,
    ...(typeof last_token_at === 'string' ? { last_token_at } : {}),
    ...(typeof previous_secret_last_used === 'string' ? { previous_secret_last_used } : {}),
  };
}

function notUnderstood(): ManagementError {
  return new ManagementError('refused', 'the API answered a usage that is not understood');
}
