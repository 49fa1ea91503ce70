import type { Random } from '../../support/random.ts';
import type { RouteRequest } from '../route-requests.ts';
import { awkwardText, garbled, oneIn } from './chance.ts';
import { fuzzBody } from './fuzz-body.ts';

/**
 * Returns the bytes of a request that is made of those of the routes: of one of them its method, of another its path,
 * its credentials or its body, each of them changed at times.
 */
export function fuzzRequest(seeds: readonly [RouteRequest, ...RouteRequest[]], random: Random): Buffer {
  const seed = pickSeed(seeds, random);
  const donor = oneIn(4, random) ? random.pick(seeds) : seed;
  const { type, text } = fuzzBody({ type: donor.type, text: donor.body }, random);
  const body = Buffer.from(text ?? '', 'latin1');
  const headers = [
    ...(oneIn(30, random) ? [] : [`Host: ${hostOf(random)}`]),
    ...credentialsOf(seed, seeds, random),
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    ...(text === undefined ? [] : framing(body.length, random)),
    ...(oneIn(3, random) ? Array.from({ length: random.below(4) }, () => headerOf(random)) : []),
  ];
  const head = `${methodOf(seed, random)} ${targetOf(seed, random)} HTTP/1.${oneIn(40, random) ? '0' : '1'}`;
  return Buffer.concat([Buffer.from(`${[head, ...headers].join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

/** Passwords are hashed on purpose slowly: their routes come up less often, so that the others come up more often. */
const slow = new Set(['POST /auth/signin', 'POST /auth/signup', 'POST /users', 'PUT /users/:id']);

function pickSeed(seeds: readonly [RouteRequest, ...RouteRequest[]], random: Random): RouteRequest {
  const seed = random.pick(seeds);
  return slow.has(seed.name) && !oneIn(10, random) ? pickSeed(seeds, random) : seed;
}

function methodOf(seed: RouteRequest, random: Random): string {
  if (!oneIn(6, random)) return seed.method;
  return random.pick([
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'PROPFIND',
    'get',
    'MADE-UP',
  ]);
}

const otherBoxes = ['/boxes/other', '/boxes/none', '/boxes/', '/boxes', ''] as const;

function targetOf(seed: RouteRequest, random: Random): string {
  const path = oneIn(5, random) ? garbled(seed.path, random) : seed.path;
  const target = (oneIn(8, random) ? random.pick(otherBoxes) : '/boxes/default') + path + queryOf(seed, random);
  if (!oneIn(25, random)) return target;
  return random.pick([
    `http://boxgate.test${target}`,
    '*',
    `/${target}`,
    `${target}#x`,
    garbled(target, random),
    `/.well-known/oauth-authorization-server${target}`,
    `${target}${'/x'.repeat(2_000)}`,
  ]);
}

const parameters: readonly [string, ...string[]] = [
  '_count', '_page', '_sort', '_elements', '_total', '_result', 'client', 'user', 'type', 'status', 'created_at', 'q', 'email',
  'group-id', 'access_token', 'response_type', 'client_id', 'redirect_uri', 'state', 'scope', 'nonce', 'prompt', 'max_age',
  'code_challenge', 'code_challenge_method', 'login_hint', 'id_token_hint', 'audience', 'resource', 'response_mode', 'id',
]; // prettier-ignore

const values: readonly [string, ...string[]] = [
  '1', '0', '-1', '1000', '1001', 'accurate', 'none', 'array', 'created_at', '-created_at', 'ge2020-01-01', 'le9999-99-99',
  'active', 'token', 'code', 'code%20token', 'openid', 'app', 'asking', 'https://app.example/back', 'login', 'S256', 'made',
]; // prettier-ignore

function queryOf(seed: RouteRequest, random: Random): string {
  if (!oneIn(3, random)) return seed.query;
  const added = Array.from({ length: 1 + random.below(4) }, () => {
    return `${random.pick(parameters)}=${oneIn(3, random) ? awkwardText(random) : random.pick(values)}`;
  });
  return `${seed.query === '' ? '?' : `${seed.query}&`}${added.join('&')}`;
}

function hostOf(random: Random): string {
  if (!oneIn(10, random)) return '127.0.0.1';
  return random.pick([
    'boxgate.default.svc',
    'boxgate.other.svc:8080',
    '[::1]',
    'a b',
    'evil.example',
    '',
    '127.0.0.1:99999',
  ]);
}

function credentialsOf(
  seed: RouteRequest,
  seeds: readonly [RouteRequest, ...RouteRequest[]],
  random: Random,
): string[] {
  const donor = oneIn(6, random) ? random.pick(seeds) : seed;
  const authorization = donor.authorization === undefined ? [] : [`Authorization: ${donor.authorization}`];
  const cookie = donor.cookie === undefined ? [] : [`Cookie: ${donor.cookie}`];
  const all = [...authorization, ...cookie];
  if (!oneIn(8, random)) return all;
  return random.pick([
    [],
    [...all, ...all],
    all.map((line) => garbled(line, random)),
    ['Authorization: Basic Og==', ...all],
  ]);
}

/**
 * Returns the headers that frame a body, nearly always with the true length. A body that is too short ends with the
 * connection.
 */
function framing(length: number, random: Random): string[] {
  const right = `Content-Length: ${String(length)}`;
  if (!oneIn(40, random)) return [right];
  return random.pick([
    [],
    [right, right],
    [right, `Content-Length: ${String(length + 1)}`],
    [`Content-Length: ${String(length + 3)}`],
    [`Content-Length: ${String(Math.max(0, length - 3))}`],
    ['Content-Length: -1'],
    ['Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', right],
    ['Transfer-Encoding: gzip, chunked'],
  ]);
}

const headers: readonly [string, ...string[]] = [
  'Accept: application/yaml', 'Accept: */*;q=0', 'Accept: text/html, application/xhtml+xml', 'Accept: ;;', 'Accept-Language: de',
  'If-Match: *', 'If-Match: "1"', 'If-Match: W/"x", "y"', 'If-None-Match: *', 'If-None-Match: x', 'Range: bytes=0-1',
  'Origin: https://app.example', 'Origin: null', 'Access-Control-Request-Method: PUT', 'Sec-Fetch-Site: cross-site',
  'Expect: 100-continue', 'Expect: x', 'Content-Encoding: gzip', 'Content-Encoding: br', 'Connection: close',
  'Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c', 'X-Forwarded-For: 203.0.113.5:51234', 'X-Forwarded-For: x',
  'X-Forwarded-Proto: https', 'X-Forwarded-Host: evil.example', 'X-Original-URI: /Client', 'X-HTTP-Method-Override: DELETE',
  'X-Request-Id: {"a":1}', 'Cookie: a=b; __Host-boxgate-default=x', 'Prefer: return=minimal', ': x', 'Bad Header: x',
  'Trailer: x', 'TE: trailers', `X-Long: ${'x'.repeat(9_000)}`, `X-Longer: ${'x'.repeat(20_000)}`, 'X-Nul: \u0000', 'X: \u00ff',
]; // prettier-ignore

function headerOf(random: Random): string {
  const header = random.pick(headers);
  return oneIn(10, random) ? garbled(header, random) : header;
}
