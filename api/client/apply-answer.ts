import { isObject, parseJson } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import type { Fault } from '../../crds/fault.ts';
import { isKind } from '../../crds/kind.ts';
import { isQuotaName } from '../../crds/quota.ts';
import { APPLY_VERDICTS, type Applied, type ApplyProgress, type ApplyResult, type Owner } from './desired-state.ts';
import { ManagementError, refusal } from './management-error.ts';

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
