import type { Person } from '../../db/hot-statements.ts';
import { makeSessionId } from '../../credentials/token-text.ts';
import type { Client } from '../../../crds/client.ts';
import type { Fault } from '../../../crds/fault.ts';
import { isObject } from '../../policy/json-value.ts';
import type { RequestParts } from '../../policy/request-object.ts';
import { BOXGATE_SCOPE } from '../../state/requestable-scopes.ts';
import { normalPath } from '../path-text.ts';
import { parameters } from '../query.ts';
import { sessionParts, userFields } from '../session-parts.ts';
import { resourceRoutes } from './resource-routes.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The request of a question to `$explain`, as it was sent. */
export interface AskedRequest {
  readonly 'request-method': string;
  readonly uri: string;
  readonly params?: Fields;
  readonly headers?: Fields;
  readonly 'remote-addr'?: string;
  readonly resource?: Fields;
  readonly body?: unknown;
  readonly changes?: readonly string[];
}

/** The token of a question to `$explain`, as it was sent. */
export interface AskedToken {
  readonly scope?: string;
  readonly audience?: string;
  readonly session?: Fields;
  readonly token?: Fields;
}

/** What a token was granted, and the claims that the question adds or changes. */
interface ExplainedToken {
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly claims: Fields;
}

/**
 * Returns the scope, the audience and the claims of the token of a question. A user's token has the scope `boxgate` unless the
 * question says otherwise.
 */
export function explainedToken({ scope, audience, token = {} }: AskedToken, isUsers: boolean): ExplainedToken {
  const { scope: claimed, aud, ...claims } = token;
  const granted = scope ?? (typeof claimed === 'string' ? claimed : undefined);
  const targets = audience ?? (typeof aud === 'string' || Array.isArray(aud) ? aud : null);
  return {
    scope: granted ?? (isUsers ? BOXGATE_SCOPE : null),
    audience: typeof targets === 'string' ? [targets] : (targets?.map(String) ?? null),
    claims,
  };
}

/** Returns what policies see of the session and the token of a question: those of a token that was issued just now. */
export function explainedSubject(
  asked: AskedToken,
  client: Client | undefined,
  user: Person | null,
  { issuer, now }: { readonly issuer: string; readonly now: number },
): Pick<RequestParts, 'client' | 'user' | 'session' | 'token'> {
  const { scope, audience, claims } = explainedToken(asked, user !== null);
  const { session, token } = asked;
  if (client === undefined) {
    const known = user === null ? {} : { user: userFields(user) };
    const aud = audience === null ? {} : { aud: audience };
    return { ...known, session, ...(token && { token: { ...claims, ...aud, ...(scope !== null && { scope }) } }) };
  }
  const issuedAt = Math.floor(now / 1000);
  const parts = sessionParts(
    {
      id: makeSessionId(now),
      bucket: 0,
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
    session: { ...parts.session, ...session },
    token: { ...parts.token, ...claims },
  };
}

/** Seconds for which the token of a question is valid. */
const AN_HOUR = 3600;

/** A request as a caller would send it, or what keeps it from being one. */
type Explained =
  | { readonly ok: true; readonly parts: Pick<RequestParts, 'method' | 'uri' | 'params' | 'headers' | 'resource'> }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/**
 * Returns the request of a question as a caller would send it: parameters and headers are text, the query of `uri` counts as
 * parameters, and the resource is the one that the path addresses.
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
      params: { ...queryIn(uri), ...asText(params) },
      headers: asText(headers, (name) => name.toLowerCase()),
      resource: addressed ?? given,
    },
  };
}

/** Returns the record that a path of the box's own endpoints addresses; undefined where policies are not asked about one. */
export function addressedBy(path: string): { readonly resourceType: string; readonly id?: string } | undefined {
  const [, name = '', id, ...more] = path.split('/');
  const resourceType = name === 'users' ? 'User' : kinds.find((kind) => kind === name);
  if (resourceType === undefined || more.length > 0) return undefined;
  if (id === '') return undefined;
  return id === undefined || id === '$explain' ? { resourceType } : { resourceType, id: decoded(id) };
}

const kinds = [...new Set(resourceRoutes.map(({ kind }) => kind))];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withTextId(resource: Fields): Fields {
  return typeof resource['id'] === 'number' ? { ...resource, id: String(resource['id']) } : resource;
}

function isSame(addressed: Fields, given: Fields): boolean {
  const names = new Set([...Object.keys(addressed), ...Object.keys(given)]);
  return [...names].every((name) => addressed[name] === given[name]);
}

function queryIn(uri: string): Fields {
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(uri) ?? [];
  return parameters(new URLSearchParams(query));
}

function textFaults(fields: Fields, at: string): Fault[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().every((one) => !isObject(one) && one !== null && !Array.isArray(one))
      ? []
      : [{ path: `request.${at}.${name}`, message: 'must be text, or a list of texts' }],
  );
}

/** A request has nothing but text in its query and headers. */
function asText(fields: Fields, nameOf: (name: string) => string = (name) => name): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      nameOf(name),
      Array.isArray(value) ? value.map(String) : String(value),
    ]),
  );
}
