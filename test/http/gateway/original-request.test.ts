import { expect } from 'chai';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { originalRequest } from '../../../api/http/gateway/original-request.ts';
import { Problem } from '../../../api/problem.ts';

type Pairs = readonly (readonly [name: string, value: string])[];

/** Returns a request as node parses it. */
function incoming(method: string, pairs: Pairs): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.method = method;
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const before = request.headers[key];
    request.headers[key] = typeof before === 'string' ? `${before}, ${value}` : value;
    request.rawHeaders.push(name, value);
  }
  return request;
}

/** Returns what is read of a request: `METHOD target app`, or the refusal. */
function read(path: string, pairs: Pairs, method = 'GET'): string {
  try {
    const { method: asked, target, app } = originalRequest(incoming(method, pairs), path);
    return `${asked} ${target} ${app}`;
  } catch (error) {
    if (error instanceof Problem) return `${error.code}: ${error.message}`;
    throw error;
  }
}

const original = (method: string, uri: string): Pairs => [
  ['X-Original-Method', method],
  ['X-Original-URI', uri],
];
const url = (method: string, text: string): Pairs => [
  ['X-Original-Method', method],
  ['X-Original-URL', text],
];
const forwarded = (method: string, uri: string, host: string): Pairs => [
  ['X-Forwarded-Method', method],
  ['X-Forwarded-Uri', uri],
  ['X-Forwarded-Host', host],
];
const host = (name: string): Pairs => [['Host', name]];

describe('the request that a gateway asks about', () => {
  const understood: readonly (readonly [string, string, Pairs, string])[] = [
    ['of nginx', '/auth/check?app=orders', original('PUT', '/a?b=1'), 'PUT /a?b=1 orders'],
    ['of ingress-nginx', '/auth/check', url('GET', 'https://Shop.Example:8443/a?b'), 'GET /a?b shop.example'],
    ['of Traefik', '/auth/check', forwarded('DELETE', '/a', 'shop.example'), 'DELETE /a shop.example'],
    ['of Caddy with an app', '/auth/check?app=orders', forwarded('GET', '/', 'shop.example'), 'GET / orders'],
    ['of Envoy', '/auth/check/a/b?app=x', host('shop.example:80'), 'GET /a/b?app=x shop.example'],
    ['of Envoy at the root', '/auth/check/', host('shop.example'), 'GET / shop.example'],
    [
      'told twice alike',
      '/auth/check',
      [...url('GET', 'http://shop.example/a'), ...forwarded('GET', '/a', 'shop.example')],
      'GET /a shop.example',
    ],
    ['beside a query', '/auth/check?app=x', original('GET', '/a?app=x&b=1'), 'GET /a?app=x&b=1 x'],
    ['with an empty query', '/auth/check?', forwarded('GET', '/a?', 'h'), 'GET /a? h'],
    ['beside a forwarded host', '/auth/check?app=x', [...original('GET', '/a'), ['X-Forwarded-Host', 'y']], 'GET /a x'],
  ];
  for (const [whose, path, pairs, expected] of understood) {
    it(`is that ${whose}`, () => {
      expect(read(path, pairs)).to.equal(expected);
    });
  }

  const refusals: readonly (readonly [string, string, Pairs, string])[] = [
    ['no request at all', '/auth/check?app=x', host('shop.example'), 'The original request is missing'],
    [
      'a forwarded host alone',
      '/auth/check',
      [['X-Forwarded-Host', 'shop.example']],
      'The original request is missing',
    ],
    [
      'a method without a path',
      '/auth/check?app=x',
      [['X-Original-Method', 'GET']],
      'X-Original-URI is missing: send it together with',
    ],
    [
      'a path without a method',
      '/auth/check?app=x',
      [['X-Original-URI', '/']],
      'X-Original-Method is missing: send it together with',
    ],
    [
      'a URL without a method',
      '/auth/check',
      [['X-Original-URL', 'http://a/']],
      'X-Original-Method is missing: send it together with',
    ],
    [
      'a forwarded method alone',
      '/auth/check?app=x',
      [['X-Forwarded-Method', 'GET']],
      'X-Forwarded-Uri is missing: send it together with',
    ],
    [
      'a forwarded path alone',
      '/auth/check?app=x',
      [['X-Forwarded-Uri', '/']],
      'X-Forwarded-Method is missing: send it together with',
    ],
    ['no app', '/auth/check', original('GET', '/a'), 'app is missing'],
    ['two apps', '/auth/check?app=x&app=y', original('GET', '/a'), 'app must not be given twice'],
    [
      'another parameter',
      '/auth/check?app=x&b=1',
      original('GET', '/a'),
      'The only parameter here is app: send the original query in the headers',
    ],
    ["its caller's query", '/auth/check?app=x', forwarded('GET', '/a?app=x', 'h'), 'is that of the original request'],
    ["its caller's query, nginx", '/auth/check?app=x', original('GET', '/a?app=x'), 'is that of the original request'],
    ["its caller's other query", '/auth/check?a=1', forwarded('GET', '/a?a=1', 'h'), 'is that of the original request'],
    ['every app', '/auth/check?app=*', original('GET', '/a'), 'app must be the name of an app'],
    ['an app in capitals', '/auth/check?app=Orders', original('GET', '/a'), 'app must be the name of an app'],
    ['an app of too long a name', `/auth/check?app=${'a'.repeat(254)}`, original('GET', '/a'), 'app must be the name'],
    ['an app without a name', '/auth/check?app=', original('GET', '/a'), 'app must be the name of an app'],
    ['a path without a slash', '/auth/check?app=x', original('GET', 'a'), 'X-Original-URI must begin with a slash'],
    ['a target of OPTIONS', '/auth/check?app=x', original('OPTIONS', '*'), 'X-Original-URI must begin with a slash'],
    ['a relative URL', '/auth/check', url('GET', '/a'), 'X-Original-URL must be an absolute URL'],
    [
      'a URL with a name',
      '/auth/check',
      url('GET', 'http://x@shop.example/'),
      'X-Original-URL is not the name of a host',
    ],
    ['an empty host', '/auth/check', forwarded('GET', '/', ''), 'X-Forwarded-Host is not the name'],
    ['a host in two', '/auth/check', forwarded('GET', '/', 'a.example, b.example'), 'X-Forwarded-Host is not the name'],
    ['a method of no HTTP', '/auth/check?app=x', original('GE T', '/'), 'method is not a method of HTTP'],
    ['a long path', '/auth/check?app=x', original('GET', `/${'a'.repeat(8192)}`), 'X-Original-URI is longer than 8192'],
    [
      'two methods',
      '/auth/check?app=x',
      [...original('GET', '/'), ['x-original-method', 'PUT']],
      'is given more than once: have the gateway replace it',
    ],
    [
      'one path twice',
      '/auth/check?app=x',
      [...original('GET', '/'), ['X-Original-URI', '/']],
      'is given more than once: have the gateway replace it',
    ],
  ];
  for (const [what, path, pairs, expected] of refusals) {
    it(`is refused with ${what}`, () => {
      expect(read(path, pairs))
        .to.match(/^bad-request: /)
        .and.to.include(expected);
    });
  }

  const twoRequests = 'The headers describe two different requests: remove the ones that your gateway does not set';
  const forgeries: readonly (readonly [string, string, Pairs, string])[] = [
    ['another method', '/auth/check?app=x', [...original('DELETE', '/a'), ...forwarded('GET', '/a', 'h')], twoRequests],
    [
      'another path',
      '/auth/check',
      [...forwarded('GET', '/admin', 'shop.example'), ...original('GET', '/open')],
      twoRequests,
    ],
    [
      'another host',
      '/auth/check',
      [...forwarded('GET', '/a', 'shop.example'), ...url('GET', 'http://open.example/a')],
      'two different hosts: name the app with ?app=',
    ],
    [
      'a URL of another path',
      '/auth/check?app=x',
      [...original('GET', '/admin'), ['X-Original-URL', 'http://a/open']],
      'X-Original-URL has another path',
    ],
    ['a path to Envoy', '/auth/check/admin', [...host('shop.example'), ...original('GET', '/open')], twoRequests],
    ['a method to Envoy', '/auth/check/a', [...host('shop.example'), ...original('PUT', '/a')], twoRequests],
    [
      'a forwarded host to Envoy',
      '/auth/check/a',
      [...host('shop.example'), ...forwarded('GET', '/a', 'open.example')],
      'two different hosts',
    ],
    [
      'half a dialect',
      '/auth/check?app=x',
      [...original('GET', '/a'), ['X-Forwarded-Uri', '/open']],
      'X-Forwarded-Method is missing',
    ],
  ];
  for (const [what, path, pairs, expected] of forgeries) {
    it(`cannot be forged by a caller that adds ${what}`, () => {
      expect(read(path, pairs))
        .to.match(/^bad-request: /)
        .and.to.include(expected);
    });
  }
});
