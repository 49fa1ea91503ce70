import { closestWord, didYouMean } from '../../crds/did-you-mean.ts';
import type { RequestObject } from './request-object.ts';

/** Every name at the top of the request object. */
const FIELDS = {
  'request-method': true,
  uri: true,
  params: true,
  headers: true,
  'remote-addr': true,
  box: true,
  time: true,
  body: true,
  changes: true,
  resource: true,
  client: true,
  user: true,
  session: true,
  token: true,
} as const satisfies Record<keyof RequestObject, true>;

/** Names that people write for a part of the request object, and the part. */
const OTHER_NAMES: ReadonlyMap<string, keyof RequestObject> = new Map([
  ['method', 'request-method'],
  ['path', 'uri'],
  ['query', 'params'],
  ['ip', 'remote-addr'],
  ['address', 'remote-addr'],
]);

/**
 * Returns the fault of a name that no request has at its top; undefined for a known one. A rule about a misspelled name
 * would say nothing: under `$not`, or without `required`, it would grant every request.
 */
export function requestFieldFault(name: string): string | undefined {
  if (Object.hasOwn(FIELDS, name)) return undefined;
  const known = Object.keys(FIELDS);
  const close = OTHER_NAMES.has(name) ? name : closestWord(name, [...known, ...OTHER_NAMES.keys()]);
  const meant = close === undefined ? undefined : (OTHER_NAMES.get(close) ?? close);
  return `is not a part of a request; the parts are ${known.join(', ')}${didYouMean(meant)}`;
}
