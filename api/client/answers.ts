import { isKind } from '../../crds/kind.ts';
import { LINK_TYPES } from '../../crds/links.ts';
import { isList, isObject, parseJson } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import type { Fault } from '../../crds/fault.ts';
import { isQuotaName } from '../../crds/quota.ts';
import type { StoredHosts, ServiceAccountPins, StoredSettings } from './cluster.ts';
import {
  APPLY_VERDICTS,
  type Applied,
  type ApplyProgress,
  type ApplyResult,
  type BoxUsage,
  type ClaimedEpoch,
  type DeclaredBoxes,
  type LastUses,
  type MissingLinks,
  type MovedBox,
  type Owner,
} from './desired-state.ts';
import { ManagementError, refusal } from './management-error.ts';

/** Types of the members that an object must have; those that end with `?` may be absent. */
type Members = Readonly<Record<string, 'string' | 'number' | 'boolean' | 'string?' | 'boolean?'>>;

function has(value: unknown, members: Members): value is JsonObject {
  if (!isObject(value)) return false;
  return Object.entries(members).every(([name, type]) => {
    const found = typeof value[name];
    return type === found || type === `${found}?` || (found === 'undefined' && type.endsWith('?'));
  });
}

function isListOf(value: unknown, members: Members): boolean {
  return isList(value) && value.every((one) => has(one, members));
}

function isTexts(value: unknown): boolean {
  return isList(value) && value.every((one) => typeof one === 'string');
}

/** An answer of the management port: its content, for a message, and its check. */
export interface Expected<T> {
  readonly what: string;
  readonly is: (answer: unknown) => answer is T;
}

const lastUse = { id: 'string', last_token_at: 'string?', previous_secret_last_used: 'string?' } as const;
const pin = { client: 'string', namespace: 'string', name: 'string', uid: 'string', gone: 'boolean' } as const;

/** The answers of the management port. */
export const ANSWERS = {
  epoch: { what: 'an epoch', is: (answer: unknown): answer is ClaimedEpoch => has(answer, { epoch: 'number' }) },
  settings: {
    what: 'a version',
    is: (answer: unknown): answer is StoredSettings => has(answer, { version: 'number' }),
  },
  boxes: {
    what: 'a list of boxes',
    is: (answer: unknown): answer is DeclaredBoxes =>
      isObject(answer) && isListOf(answer['boxes'], { box: 'string', resources: 'number', missing: 'boolean?' }),
  },
  usage: {
    what: 'a usage',
    is: (answer: unknown): answer is BoxUsage =>
      has(answer, { users: 'number', next: 'string?' }) &&
      isListOf(answer['clients'], { ...lastUse, live_sessions: 'number' }) &&
      isListOf(answer['groups'], { name: 'string', members: 'number' }) &&
      isListOf(answer['policies'], { id: 'string', last_used_at: 'string' }),
  },
  lastUses: {
    what: 'last uses',
    is: (answer: unknown): answer is LastUses => isObject(answer) && isListOf(answer['clients'], lastUse),
  },
  hosts: {
    what: 'hosts',
    is: (answer: unknown): answer is StoredHosts =>
      isObject(answer) &&
      isTexts(answer['changed']) &&
      isTexts(answer['unnamed']) &&
      isListOf(answer['refused'], { box: 'string', host: 'string' }),
  },
  missingLinks: {
    what: 'the links that lead nowhere',
    is: (answer: unknown): answer is MissingLinks =>
      isObject(answer) && isList(answer['missing']) && answer['missing'].every(isLink),
  },
  move: {
    what: 'the database of a box',
    is: (answer: unknown): answer is MovedBox => has(answer, { database: 'string', moved: 'boolean' }),
  },
  pins: {
    what: 'the pins of ServiceAccounts',
    is: (answer: unknown): answer is ServiceAccountPins => isObject(answer) && isListOf(answer['pins'], pin),
  },
} as const;

function isLink(value: unknown): boolean {
  return has(value, { id: 'string' }) && LINK_TYPES.some((type) => type === value['resourceType']);
}

/** Returns an answer that passes its check. Throws ManagementError for any other. */
export function understood<T>(answer: unknown, { what, is }: Expected<T>): T {
  if (is(answer)) return answer;
  throw new ManagementError('refused', `the API answered without ${what} that is understood`);
}

/** One line of the answer to an apply call. */
export type AnswerLine = ApplyProgress | ApplyResult | Applied;

/** Reads one line of an answer. Throws ManagementError for the line with the reason of a refusal, and for nonsense. */
export function parseAnswerLine(text: string): AnswerLine {
  const line = parseJson(text);
  if (isObject(line) && 'error' in line) throw refusal(200, line);
  const found = isObject(line) ? (progressOf(line) ?? appliedOf(line) ?? resultOf(line)) : undefined;
  if (found !== undefined) return found;
  // The text is not shown, because it may contain anything.
  const length = String(text.length);
  throw new ManagementError('refused', `the API answered a line of ${length} characters that is not understood`);
}

function progressOf({ progress }: JsonObject): ApplyProgress | undefined {
  const { done, of } = isObject(progress) ? progress : {};
  return typeof done === 'number' && typeof of === 'number' ? { progress: { done, of } } : undefined;
}

function appliedOf({ box, config_version, database }: JsonObject): Applied | undefined {
  if (typeof box !== 'string' || typeof config_version !== 'number' || typeof database !== 'string') return undefined;
  return { box, config_version, database };
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
  const { path, message } = isObject(fault) ? fault : {};
  return typeof path === 'string' && typeof message === 'string' ? [{ path, message }] : [];
}

function ownerOf(owner: unknown): Owner | undefined {
  const { name, uid } = isObject(owner) ? owner : {};
  return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : undefined;
}
