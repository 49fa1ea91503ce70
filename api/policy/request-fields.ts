import { clientSchema } from '../../crds/client.ts';
import { closestWord, didYouMean, wordHint } from '../../crds/did-you-mean.ts';
import { liveIntrospectionSchema } from '../schemas/oauth.ts';
import { sessionSchema } from '../schemas/account.ts';
import { listedUserSchema } from '../schemas/user.ts';
import type { RequestObject } from './request-object.ts';

/** Every part of the request object with the names directly below it; undefined where any name may be. */
export const REQUEST_FIELDS = {
  'request-method': undefined,
  uri: undefined,
  params: undefined,
  headers: undefined,
  'remote-addr': undefined,
  box: [],
  time: undefined,
  body: undefined,
  changes: undefined,
  resource: ['resourceType', 'id'],
  client: namesIn(clientSchema, ['secret']),
  user: ['resourceType', ...namesIn(listedUserSchema, ['status', 'created_at', 'updated_at'])],
  session: namesIn(sessionSchema, ['parent', 'remote_addr', 'user_agent']),
  token: namesIn(liveIntrospectionSchema, ['active', 'token_type', 'username', 'groups']),
} as const satisfies Record<keyof RequestObject, readonly string[] | undefined>;

function namesIn<Name extends string>(
  { properties }: { readonly properties: Readonly<Record<Name, unknown>> },
  hidden: readonly Name[],
): readonly string[] {
  const names = new Set(Object.keys(properties));
  for (const name of hidden) names.delete(name);
  return [...names];
}

/** Names that people write for a part of the request object, and the part. */
const OTHER_NAMES: ReadonlyMap<string, keyof RequestObject> = new Map([
  ['method', 'request-method'],
  ['path', 'uri'],
  ['query', 'params'],
  ['ip', 'remote-addr'],
  ['address', 'remote-addr'],
]);

/** An object whose names are known: the request object, or one of its parts. */
export type KnownObject = 'request' | keyof RequestObject;

/** Returns the part that a name of the request object is; undefined for a name of anything else. */
export function partOf(object: KnownObject | undefined, name: string): keyof RequestObject | undefined {
  return object === 'request' && isPart(name) ? name : undefined;
}

/**
 * Returns the fault of a name that no request has there; undefined for a known one, and where names are free. A rule
 * about a misspelled name would say nothing: under `$not`, or without `required`, it would grant every request.
 */
export function requestFieldFault(object: KnownObject | undefined, name: string): string | undefined {
  if (object === undefined) return undefined;
  if (object !== 'request') return partFieldFault(object, name);
  if (isPart(name)) return undefined;
  const known = Object.keys(REQUEST_FIELDS);
  const close = OTHER_NAMES.has(name) ? name : closestWord(name, [...known, ...OTHER_NAMES.keys()]);
  const meant = close === undefined ? undefined : (OTHER_NAMES.get(close) ?? close);
  return `is not a part of a request; the parts are ${known.join(', ')}${didYouMean(meant)}`;
}

function partFieldFault(part: keyof RequestObject, name: string): string | undefined {
  const known: readonly string[] | undefined = REQUEST_FIELDS[part];
  if (known === undefined || known.includes(name)) return undefined;
  if (known.length === 0) return `is not a field of ${part}, which is a text`;
  return `is not a field of ${part}; its fields are ${known.join(', ')}${wordHint(name, known)}`;
}

function isPart(name: string): name is keyof RequestObject {
  return Object.hasOwn(REQUEST_FIELDS, name);
}
