import { APP_NAME_OR_ALL } from './access-policy.ts';
import { isObject, dottedPath, memberPath } from './path.ts';
import type { ErrorObject } from 'ajv';
import type { Fault } from './fault.ts';
import {
  DNS_LABEL,
  HOST_NAME,
  LONGEST_LIFETIME,
  MANY_LINES,
  MOMENT,
  OBJECT_NAME,
  OBJECT_UID,
  ONE_LINE,
  RESOURCE_ID,
  SCOPE_TOKEN,
  URI_TEXT,
  WEB_ORIGIN,
} from './fields.ts';
import { DURATION, EMAIL, SECRET_KEY } from './kubernetes-fields.ts';
import { REFERENCE } from './links.ts';
import { GROUP_NAME } from './group.ts';
import { fieldHint, MOST_HINTS, wordHint } from './did-you-mean.ts';
import { SECRET_TEXT } from './secret-text.ts';

/** Returns the faults of `root` from the errors that ajv found in it with `verbose`: one fault for each field. */
export function schemaFaults(errors: readonly ErrorObject[], root: unknown): Fault[] {
  const byPath = new Map<string, Fault>();
  for (const error of errors) {
    const path = pathOf(error, dottedPath(error.instancePath, root));
    if (byPath.has(path)) continue;
    const hint = byPath.size < MOST_HINTS ? hintOf(error) : '';
    byPath.set(path, { path, message: messageOf(error, path, hint) });
  }
  return [...byPath.values()];
}

/** Returns the known field or value that an unknown one may mean, as the end of a message. */
function hintOf({ keyword, params, data, parentSchema }: ErrorObject): string {
  if (keyword === 'additionalProperties') return fieldHint(String(params['additionalProperty']), parentSchema, data);
  if (keyword !== 'enum' || typeof data !== 'string' || !Array.isArray(params['allowedValues'])) return '';
  return wordHint(data, params['allowedValues'].map(String));
}

function pathOf({ keyword, params }: ErrorObject, path: string): string {
  if (keyword === 'required') return memberPath(path, String(params['missingProperty']), false);
  if (keyword === 'additionalProperties') return memberPath(path, String(params['additionalProperty']), false);
  if (keyword === 'uniqueItems')
    return memberPath(path, String(Math.max(Number(params['i']), Number(params['j']))), true);
  return path;
}

function messageOf({ keyword, params, message, data, parentSchema }: ErrorObject, path: string, hint: string): string {
  const limit = String(params['limit']);
  const found = (): string => {
    const value = foundValue(data, path);
    return value === SOME_STRING ? '' : `, not ${value}`;
  };
  switch (keyword) {
    case 'required':
      return 'must be given';
    case 'additionalProperties':
      return `is not a known field${hint}`;
    case 'type':
      return typeMessage(String(params['type']), data, path, isLifetime(parentSchema));
    case 'enum':
      // What is close to a known word is no secret, and may be repeated.
      if (hint !== '' && isPlain(data)) return `is not a known ${nounOf(path)}: \`${data}\`${hint}`;
      return `must be one of ${listed(params['allowedValues'])}${found()}`;
    case 'const':
      return `must be ${String(params['allowedValue'])}${found()}`;
    case 'pattern':
      return PATTERN_MESSAGES.get(String(params['pattern'])) ?? `must match ${String(params['pattern'])}`;
    case 'format':
      return A_MOMENT;
    case 'uniqueItems':
      return 'must not be given twice';
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'minItems':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} entries`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${limit} entries`;
    case 'minimum':
      return `must be at least ${limit}${isLifetime(parentSchema) ? ' (seconds)' : ''}${found()}`;
    case 'maximum':
      return `must be at most ${limit}${isLifetime(parentSchema) ? ' (seconds)' : ''}${found()}`;
    default:
      return message ?? 'is not valid';
  }
}

function isPlain(data: unknown): data is string {
  return typeof data === 'string' && /^[\x20-\x7e]+$/.test(data);
}

function nounOf(path: string): string {
  return /(?:^|\.)grant_types\[\d+\]$/.test(path) ? 'grant' : 'value';
}

function isLifetime(schema: unknown): boolean {
  return isObject(schema) && schema['maximum'] === LONGEST_LIFETIME;
}

function typeMessage(type: string, data: unknown, path: string, isInSeconds: boolean): string {
  const found = foundValue(data, path);
  switch (type) {
    case 'integer':
      return `must be a whole number${isInSeconds ? ' of seconds' : ''}${wholeNumber(data, found, isInSeconds)}`;
    case 'boolean':
      return `must be true or false${flagNeeded(data, found)}`;
    case 'string': {
      const isPlain = typeof data === 'number' || typeof data === 'boolean';
      return `must be a string, not ${found}${isPlain ? ': quote it in YAML' : ''}`;
    }
    case 'array':
      return `must be a list, not ${found}`;
    case 'object':
      return `must be an object, not ${found}`;
    default:
      return `must be of type ${type}, not ${found}`;
  }
}

/** Returns the end of a message about a text that means a number: `"900"`, or with a unit `"15m"`. */
function wholeNumber(data: unknown, found: string, isInSeconds: boolean): string {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(typeof data === 'string' ? data : '') ?? [];
  const factor = SECONDS.get(unit);
  if (digits === '' || factor === undefined || (unit !== '' && !isInSeconds)) return `, not ${found}`;
  return `: write ${String(Number(digits) * factor)}${unit === '' ? ' without quotes' : ''}, not ${found}`;
}

const SECONDS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
]);

/** Returns the end of a message about a flag: YAML 1.1 reads more words as a flag than YAML 1.2 and JSON do. */
function flagNeeded(data: unknown, found: string): string {
  const word = typeof data === 'string' ? data.toLowerCase() : '';
  if (['true', 'false'].includes(word)) return `: write ${word} without quotes, not ${found}`;
  if (['yes', 'on', 'y'].includes(word)) return `: write true, not ${found}`;
  return ['no', 'off', 'n'].includes(word) ? `: write false, not ${found}` : `, not ${found}`;
}

/** Returns the value that was found, in words if it is long or may be a secret. */
function foundValue(data: unknown, path: string): string {
  if (Array.isArray(data)) return 'a list';
  if (typeof data === 'object') return data === null ? 'null' : 'an object';
  if (CREDENTIAL.test(path)) return `a ${typeof data}`;
  if (typeof data === 'number' && !Number.isFinite(data)) return 'a number that is too large';
  return typeof data !== 'string' || REPEATED.test(data) ? JSON.stringify(data) : SOME_STRING;
}

/** A string that a message does not repeat. */
const SOME_STRING = 'a string';

/** Texts that a message repeats: one short word, a number with a unit. A secret may be in any field by mistake. */
const REPEATED = /^(?:[a-z]{0,12}|\d{1,12}(?:\.\d{1,6})? ?[a-z]{0,7})$/i;

/** Fields that may hold a secret, whatever their type. */
const CREDENTIAL = /(?:secret|password|jwks|stringData|template)\b/i;

const A_MOMENT = 'must be a time with its offset, such as 2026-01-31T12:00:00Z (RFC 3339)';

const PATTERN_MESSAGES: ReadonlyMap<string, string> = new Map([
  [ONE_LINE, 'must be one line of text without control characters'],
  [MANY_LINES, 'must be text without control characters'],
  [GROUP_NAME, 'must be one line of text without invisible characters, and without a blank at its ends'],
  [RESOURCE_ID, 'must begin with a letter or digit and have only letters, digits and ._~-'],
  [DNS_LABEL, 'must be a DNS label: lower-case letters, digits and -'],
  [OBJECT_NAME, 'must be the name of an object: lower-case letters, digits, - and .'],
  [OBJECT_UID, 'must be the uid of an object: letters, digits and ._-'],
  [APP_NAME_OR_ALL, 'must be * or the name of an app, such as its host orders.example: no scheme, port or capitals'],
  [HOST_NAME, 'must be a host name: lower-case letters, digits, - and .'],
  [URI_TEXT, 'must be a URI: visible ASCII, percent-encoded where RFC 3986 demands it'],
  [WEB_ORIGIN, 'must be an origin such as https://app.example.com, without a path'],
  [SCOPE_TOKEN, 'must be a scope: visible ASCII without blank, quote and backslash (RFC 6749 section 3.3)'],
  [SECRET_TEXT, 'must be visible ASCII and blanks (RFC 6749 appendix A.2), without a line end'],
  [MOMENT, A_MOMENT],
  [DURATION, 'must be a duration such as 720h or 1h30m, in hours, minutes and seconds'],
  [EMAIL, 'must be an email address'],
  [SECRET_KEY, 'must be a key of a Secret: letters, digits and -._'],
  [REFERENCE, 'must be Client/<id>, User/<number>, or Group/<id or name>'],
]);

function listed(values: unknown): string {
  return Array.isArray(values) ? values.join(', ') : String(values);
}
