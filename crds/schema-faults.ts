import type { ErrorObject } from 'ajv';
import type { Fault } from './fault.ts';
import {
  DNS_LABEL,
  HOST_NAME,
  MANY_LINES,
  MOMENT,
  OBJECT_NAME,
  ONE_LINE,
  RESOURCE_ID,
  SCOPE_TOKEN,
  URI_TEXT,
  WEB_ORIGIN,
} from './fields.ts';
import { DURATION, EMAIL, SECRET_KEY } from './kubernetes-fields.ts';
import { REFERENCE } from './links.ts';
import { dottedPath, memberPath } from './path.ts';
import { SECRET_TEXT } from './secret-text.ts';

/** What a person reads about the errors that ajv found in `root`: one fault for each field. */
export function schemaFaults(errors: readonly ErrorObject[], root: unknown): Fault[] {
  const byPath = new Map<string, Fault>();
  for (const error of errors) {
    const path = pathOf(error, dottedPath(error.instancePath, root));
    if (!byPath.has(path)) byPath.set(path, { path, message: messageOf(error) });
  }
  return [...byPath.values()];
}

function pathOf({ keyword, params }: ErrorObject, path: string): string {
  if (keyword === 'required') return memberPath(path, String(params['missingProperty']), false);
  if (keyword === 'additionalProperties') return memberPath(path, String(params['additionalProperty']), false);
  if (keyword === 'uniqueItems')
    return memberPath(path, String(Math.max(Number(params['i']), Number(params['j']))), true);
  return path;
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  const limit = String(params['limit']);
  switch (keyword) {
    case 'required':
      return 'must be given';
    case 'additionalProperties':
      return 'is not a known field';
    case 'type':
      return TYPE_MESSAGES.get(String(params['type'])) ?? `must be of type ${String(params['type'])}`;
    case 'enum':
      return `must be one of ${listed(params['allowedValues'])}`;
    case 'const':
      return `must be ${String(params['allowedValue'])}`;
    case 'pattern':
      return PATTERN_MESSAGES.get(String(params['pattern'])) ?? `must match ${String(params['pattern'])}`;
    case 'format':
      return A_MOMENT;
    case 'uniqueItems':
      return 'must not be given twice';
    case 'minLength':
    case 'minItems':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${limit} entries`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    default:
      return message ?? 'is not valid';
  }
}

const A_MOMENT = 'must be a time with its offset, such as 2026-01-31T12:00:00Z (RFC 3339)';

const TYPE_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['string', 'must be a string; in YAML quote it'],
  ['integer', 'must be a whole number, not quoted'],
  ['boolean', 'must be true or false, not quoted'],
  ['array', 'must be a list'],
  ['object', 'must be an object'],
]);

const PATTERN_MESSAGES: ReadonlyMap<string, string> = new Map([
  [ONE_LINE, 'must be one line of text without control characters'],
  [MANY_LINES, 'must be text without control characters'],
  [RESOURCE_ID, 'must begin with a letter or digit and have only letters, digits and ._~-'],
  [DNS_LABEL, 'must be a DNS label: lower-case letters, digits and -'],
  [OBJECT_NAME, 'must be the name of an object: lower-case letters, digits, - and .'],
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
