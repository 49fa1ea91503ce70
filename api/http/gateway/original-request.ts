import type { IncomingMessage } from 'node:http';
import { APP_NAME, LONGEST_APP_NAME } from '../../../crds/access-policy.ts';
import type { Fault } from '../../../crds/fault.ts';
import { Problem } from '../../problem.ts';
import { hostName } from '../request/box-address.ts';

/** The request that a gateway asks about. */
export interface OriginalRequest {
  readonly method: string;
  /** Path and query as the caller sent them. */
  readonly target: string;
  /** Name of the app that it is for. */
  readonly app: string;
}

/** The original request as one dialect tells it. */
interface Told {
  readonly method: string;
  readonly target: string;
  /** Host of the request; undefined where the dialect does not tell it. */
  readonly host: string | undefined;
}

/** The path of the decision point; in Envoy's dialect the path of the original request follows. */
export const CHECK_PATH = '/auth/check';

/**
 * Reads the original request from the headers or the path of a gateway (docs/reference/auth-check.md, Dialects). A
 * caller can add headers of another dialect to its own request: what is told twice must be told alike. Throws Problem
 * `bad-request`.
 */
export function originalRequest(request: IncomingMessage, path: string): OriginalRequest {
  const header = (name: string): string | undefined => onlyHeader(request, name);
  const told = [nginxDialect(header), forwardedDialect(header), envoyDialect(request, path)].filter(
    (one) => one !== undefined,
  );
  const [first] = told;
  if (first === undefined) throw refusal('', NO_DIALECT);
  for (const { method, target } of told) {
    if (method !== first.method || target !== first.target)
      throw refusal('', 'The headers describe two different requests: remove the ones that your gateway does not set');
  }
  if (!/^[A-Za-z-]{1,32}$/.test(first.method)) throw refusal('method', 'is not a method of HTTP');
  return { method: first.method, target: first.target, app: appOf(path, told) };
}

/** Headers by which frameworks replace the method of a request that they have received. */
const overrides = ['x-http-method-override', 'x-http-method', 'x-method-override'];

/** Checks whether an app could take a request for one of another method. Names of headers are in lower case. */
export function isOverridden(headers: IncomingMessage['headers'], method: string): boolean {
  return overrides.some((name) => {
    const value = headers[name]?.toString();
    return value !== undefined && value.toLowerCase() !== method.toLowerCase();
  });
}

const NO_DIALECT =
  'The original request is missing: send X-Original-Method with X-Original-URI, or X-Forwarded-Method with X-Forwarded-Uri and X-Forwarded-Host, or append its path to /auth/check';

type ReadHeader = (name: string) => string | undefined;

/** Reads the headers of nginx and ingress-nginx. */
function nginxDialect(header: ReadHeader): Told | undefined {
  const method = header('x-original-method');
  const uri = header('x-original-uri');
  const url = header('x-original-url');
  if (method === undefined && uri === undefined && url === undefined) return undefined;
  if (method === undefined)
    throw refusal('X-Original-Method', 'is missing: send it together with X-Original-URI or X-Original-URL');
  const whole = url === undefined ? undefined : partsOf(url);
  const target = uri ?? whole?.target;
  if (target === undefined) throw refusal('X-Original-URI', 'is missing: send it together with X-Original-Method');
  if (whole !== undefined && whole.target !== target)
    throw refusal('X-Original-URL', 'has another path or query than X-Original-URI');
  return { method, target: demandTarget(target, 'X-Original-URI'), host: whole?.host };
}

/** Reads the headers of Traefik and Caddy. X-Forwarded-Host alone is set by many proxies, and tells nothing. */
function forwardedDialect(header: ReadHeader): Told | undefined {
  const method = header('x-forwarded-method');
  const target = header('x-forwarded-uri');
  const host = header('x-forwarded-host');
  if (method === undefined && target === undefined) return undefined;
  if (method === undefined) throw refusal('X-Forwarded-Method', 'is missing: send it together with X-Forwarded-Uri');
  if (target === undefined) throw refusal('X-Forwarded-Uri', 'is missing: send it together with X-Forwarded-Method');
  return {
    method,
    target: demandTarget(target, 'X-Forwarded-Uri'),
    host: host === undefined ? undefined : demandHost(host, 'X-Forwarded-Host'),
  };
}

/** Reads the request itself, as the HTTP service of Envoy's ext_authz sends it. */
function envoyDialect({ method, headers }: IncomingMessage, path: string): Told | undefined {
  if (!path.startsWith(`${CHECK_PATH}/`)) return undefined;
  const target = demandTarget(path.slice(CHECK_PATH.length), 'path');
  return { method: method ?? '', target, host: demandHost(headers.host ?? '', 'Host') };
}

const TWO_HOSTS =
  'The headers name two different hosts: name the app with ?app=, or remove the headers that your gateway does not set';

/** Returns the app: in Envoy's dialect the host; else the parameter `app`, or the host that the headers tell. */
function appOf(path: string, told: readonly Told[]): string {
  const hosts = new Set(told.flatMap(({ host }) => host ?? []));
  const named = path.startsWith(`${CHECK_PATH}/`) ? undefined : appParameter(path, told);
  const app = named ?? [...hosts][0];
  if (app === undefined) throw refusal('app', 'is missing: name the app, as in /auth/check?app=orders');
  if (named === undefined && hosts.size > 1) throw refusal('', TWO_HOSTS);
  return app;
}

function appParameter(path: string, told: readonly Told[]): string | undefined {
  const text = queryText(path);
  if (text === '') return undefined;
  // Caddy keeps the query of its caller where the configured address has none: then the caller would name the app.
  if (told.some(({ target }) => queryText(target) === text)) throw refusal('', QUERY_OF_CALLER);
  // Nearly every gateway sends this alone.
  if (text.startsWith('app=') && isAppName(text.slice(4))) return text.slice(4);
  const query = new URLSearchParams(text);
  const [app, another] = query.getAll('app');
  const unknown = [...query.keys()].some((name) => name !== 'app');
  if (unknown) throw refusal('', 'The only parameter here is app: send the original query in the headers');
  if (another !== undefined) throw refusal('app', 'must not be given twice');
  if (app !== undefined && !isAppName(app)) throw refusal('app', 'must be the name of an app, as policies have it');
  return app;
}

const QUERY_OF_CALLER =
  'The query is that of the original request: have the gateway remove it, or replace it with app=<name> (in Caddy: uri /auth/check?)';

/** Returns the query of a target, without its question mark; empty if there is none. */
function queryText(target: string): string {
  const at = target.indexOf('?');
  return at < 0 ? '' : target.slice(at + 1);
}

/** Form of the name of an app. */
export const appName = new RegExp(`^${APP_NAME}$`);

function isAppName(text: string): boolean {
  return text.length <= LONGEST_APP_NAME && appName.test(text);
}

/** Longest original target, in characters. */
const LONGEST_TARGET = 8_192;

function demandTarget(target: string, name: string): string {
  if (target.length > LONGEST_TARGET) throw refusal(name, `is longer than ${String(LONGEST_TARGET)} characters`);
  if (!target.startsWith('/')) throw refusal(name, 'must begin with a slash');
  return target;
}

/** Returns a host without its port, in lower case. */
function demandHost(text: string, name: string): string {
  const host = hostName(text);
  if (host === undefined || !isAppName(host)) throw refusal(name, 'is not the name of a host');
  return host;
}

/** Reads an absolute URL without changing its path. */
function partsOf(url: string): { readonly host: string; readonly target: string } {
  const [, authority, target] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url) ?? [];
  if (authority === undefined || target === undefined) throw refusal('X-Original-URL', 'must be an absolute URL');
  return { host: demandHost(authority, 'X-Original-URL'), target: demandTarget(target, 'X-Original-URL') };
}

/** Returns the value of a header. Throws for a repeated one, which the gateway may have read differently. */
function onlyHeader({ headers, rawHeaders }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  // Node joins the values of a repeated header with a comma.
  if (typeof value === 'string' && !value.includes(',')) return value;
  const count = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
  if (count > 1 || typeof value !== 'string')
    throw refusal(name, 'is given more than once: have the gateway replace it');
  return value;
}

function refusal(path: string, message: string): Problem {
  const faults: readonly Fault[] = [{ path, message }];
  return new Problem('bad-request', faults);
}
