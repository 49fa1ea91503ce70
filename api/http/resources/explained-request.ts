import type { JsonObject } from '../../../crds/path.ts';
import { isObject } from '../../../crds/path.ts';
import type { Person } from '../../db/user.ts';
import { bucketOf } from '../../db/session/bucket.ts';
import { makeSessionId } from '../../credentials/token-text.ts';
import type { Client } from '../../../crds/client.ts';
import type { Fault } from '../../../crds/fault.ts';
import type { RequestParts } from '../../policy/request-object.ts';
import { BOXGATE_SCOPE } from '../../box/scopes.ts';
import { originalTarget } from '../gateway/original-path.ts';
import { isOverridden } from '../gateway/original-request.ts';
import { normalPath } from '../request/box-address.ts';
import { parameters } from '../request/query.ts';
import { sessionParts } from '../access/session-parts.ts';
import type { Question } from './question.ts';
import { resourceRoutes } from './resource-routes.ts';

/** The request of a question to `$explain`, as sent. */
export type AskedRequest = Question['request'];

/** The token of a question to `$explain`, as sent: its scope is null for one without any. */
export type AskedToken = Pick<NonNullable<Question['subject']>, 'scope' | 'audience' | 'session' | 'token'>;

/** The granted scope and audience of a token, and the claims that the question adds or changes. */
interface ExplainedToken {
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly claims: JsonObject;
}

/**
 * Returns the scope, the audience and the claims of the token of a question. A user's token has the scope `boxgate`
 * unless the question says otherwise.
 */
export function explainedToken({ scope, audience, token = {} }: AskedToken, isUsers: boolean): ExplainedToken {
  const { scope: claimed, aud, ...claims } = token;
  const granted = scope === undefined && typeof claimed === 'string' ? claimed : scope;
  const targets = audience ?? (typeof aud === 'string' || Array.isArray(aud) ? aud : null);
  return {
    scope: granted === undefined && isUsers ? BOXGATE_SCOPE : (granted ?? null),
    audience: typeof targets === 'string' ? [targets] : (targets?.map(String) ?? null),
    claims,
  };
}

/**
 * Returns the session and the token of a question as policies see them: those of a token issued just now. A user has a
 * client.
 */
export function explainedSubject(
  asked: AskedToken,
  client: Client | undefined,
  user: Person | null,
  { issuer, now }: { readonly issuer: string; readonly now: number },
): Pick<RequestParts, 'client' | 'user' | 'session' | 'token'> {
  const { scope, audience, claims } = explainedToken(asked, user !== null);
  const { session, token } = asked;
  if (client === undefined) {
    const aud = audience === null ? {} : { aud: audience };
    return { session, ...(token && { token: { ...claims, ...aud, ...(scope !== null && { scope }) } }) };
  }
  const issuedAt = Math.floor(now / 1000);
  const parts = sessionParts(
    {
      id: makeSessionId(bucketOf(issuedAt, issuedAt + AN_HOUR), now),
      client,
      user,
      type: user === null ? 'c' : 'a',
      grant: user === null ? 'c' : 'a',
      scope,
      audience,
      issuedAt,
      expiresAt: issuedAt + AN_HOUR,
      format: 'opaque',
    },
    issuer,
  );
  return {
    ...parts,
    session: { ...parts.session, ...sameId('id', claims['jti']), ...session },
    token: { ...parts.token, ...sameId('jti', session?.['id']), ...claims },
  };
}

/** Returns the ID under another name: the `jti` of a token is the ID of its session, so that one of them sets both. */
function sameId(name: string, id: unknown): JsonObject {
  return id === undefined ? {} : { [name]: id };
}

/** Seconds for which the token of a question is valid. */
const AN_HOUR = 3600;

/** A request as a caller would send it, or its faults. */
type Explained =
  | { readonly ok: true; readonly parts: Pick<RequestParts, 'method' | 'uri' | 'params' | 'headers' | 'resource'> }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/**
 * Returns the request of a question as a caller would send it: parameters and headers are text, the query of `uri` is
 * added to the parameters, and the resource is the one that the path addresses.
 */
export function explainedRequest(request: AskedRequest): Explained {
  const { uri, params = {}, headers = {}, resource } = request;
  const path = normalPath(uri);
  const addressed = addressedBy(path);
  const given = resource && withTextId(resource);
  const faults = [...textFaults(params, 'params'), ...textFaults(headers, 'headers')];
  if (addressed !== undefined && given !== undefined && !isSame(addressed, given)) {
    const path = 'request.resource';
    faults.push({ path, message: `must be what the path addresses, ${JSON.stringify(addressed)}, or be left out` });
  }
  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    parts: {
      method: request['request-method'],
      uri: path,
      params: { ...queryIn(uri), ...asParameters(params) },
      headers: asHeaders(headers),
      resource: addressed ?? given,
    },
  };
}

/** Returns the request of a question about an app, as `/auth/check` shows it to policies: without body or record. */
export function explainedAppRequest({ uri, params = {}, headers = {}, ...asked }: AskedRequest): Explained {
  const target = originalTarget(uri);
  const faults = [...textFaults(params, 'params'), ...textFaults(headers, 'headers')];
  if (target?.uri.startsWith('/') !== true) {
    const message =
      'must have one reading only: a path without an encoded slash, nothing encoded twice, and in its query no raw # or ;, and no names that are one for some software';
    faults.push({ path: 'request.uri', message });
  }
  if (isOverridden(asHeaders(headers), asked['request-method'])) {
    faults.push({ path: 'request.headers', message: 'must not override the method: /auth/check refuses that' });
  }
  for (const name of ['resource', 'body', 'changes'] as const) {
    if (asked[name] !== undefined)
      faults.push({ path: `request.${name}`, message: 'is not seen by policies for apps' });
  }
  if (target === undefined || faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    parts: {
      method: asked['request-method'],
      uri: target.uri,
      params: { ...target.params, ...asParameters(params) },
      headers: asHeaders(headers),
    },
  };
}

/** Path of the question itself: it addresses no record. */
export const EXPLAIN_PATH = '/AccessPolicy/$explain';

/** Path of the last uses of policies. */
export const USAGE_PATH = '/AccessPolicy/$usage';

/** Path of the last uses of clients. */
export const CLIENT_USAGE_PATH = '/Client/$usage';

/** Path of the recorded requests. */
export const REQUESTS_PATH = '/AccessPolicy/$requests';

/** Path of the export of a box. */
export const EXPORT_PATH = '/$export';

/** Path of a plan for a box: its policies see no body. */
export const PLAN_PATH = '/$plan';

/** Returns the record that a path of the box's own endpoints addresses; undefined if policies do not check one. */
export function addressedBy(path: string): { readonly resourceType: string; readonly id?: string } | undefined {
  const ofOperation = operations.get(path);
  if (ofOperation !== undefined) return { resourceType: ofOperation };
  const [, name = '', id, ...more] = path.split('/');
  const resourceType = name === 'users' ? 'User' : kinds.find((kind) => kind === name);
  if (resourceType === undefined || more.length > 0) return undefined;
  if (id === '') return undefined;
  return id === undefined ? { resourceType } : { resourceType, id: decoded(id) };
}

/** Paths of operations that address no record, and the type that policies see. */
const operations: ReadonlyMap<string, string> = new Map([
  [EXPLAIN_PATH, 'AccessPolicy'],
  [USAGE_PATH, 'AccessPolicy'],
  [REQUESTS_PATH, 'AccessPolicy'],
  [CLIENT_USAGE_PATH, 'Client'],
  [EXPORT_PATH, 'Box'],
  [PLAN_PATH, 'Box'],
]);

const kinds = [...new Set(resourceRoutes.map(({ kind }) => kind))];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withTextId(resource: JsonObject): JsonObject {
  return typeof resource['id'] === 'number' ? { ...resource, id: String(resource['id']) } : resource;
}

function isSame(addressed: JsonObject, given: JsonObject): boolean {
  const names = new Set([...Object.keys(addressed), ...Object.keys(given)]);
  return [...names].every((name) => addressed[name] === given[name]);
}

function queryIn(uri: string): JsonObject {
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(uri) ?? [];
  return parameters(new URLSearchParams(query));
}

function textFaults(fields: JsonObject, at: string): Fault[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().every((one) => !isObject(one) && one !== null && !Array.isArray(one))
      ? []
      : [{ path: `request.${at}.${name}`, message: 'must be text, or a list of texts' }],
  );
}

/** Returns parameters as in a query: text, or a list if one is repeated. */
function asParameters(params: JsonObject): JsonObject {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  );
  return parameters(new URLSearchParams(pairs));
}

/** Returns headers as in a request: names in lower case, the values of one name in one text (RFC 9110 §5.3). */
function asHeaders(headers: JsonObject): Readonly<Record<string, string>> {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name.toLowerCase(), trimmed(String(one))]),
  );
  const byName = Map.groupBy(values, ([name]) => name);
  return Object.fromEntries(Array.from(byName, ([name, pairs]) => [name, pairs.map(([, value]) => value).join(', ')]));
}

/** Removes white space around a value, which is not part of it (RFC 9110 §5.5). */
function trimmed(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}
