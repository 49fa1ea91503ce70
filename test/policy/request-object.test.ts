import { expect } from 'chai';
import { requestObject } from '../../api/policy/request-object.ts';
import { sampleRequest } from './policies.ts';

const least = { method: 'GET', uri: '/', remoteAddr: '192.0.2.7', box: 'shop', time: 1_750_000_100 };

describe('request object', () => {
  it('has the documented names, and leaves out what the request does not have', () => {
    expect(requestObject(least)).to.deep.equal({
      'request-method': 'get',
      uri: '/',
      params: {},
      headers: {},
      'remote-addr': '192.0.2.7',
      box: 'shop',
      time: 1_750_000_100,
    });
    expect(Object.keys(sampleRequest({ body: null, user: { id: 1 } })).sort()).to.deep.equal(
      'body box client headers params remote-addr request-method resource session time token uri user'.split(' '),
    );
  });

  const leftOut: [string, Parameters<typeof requestObject>[0]][] = [
    ['the Authorization header', { ...least, headers: { authorization: 'Bearer canary' } }],
    ['headers in any case', { ...least, headers: { Authorization: 'Bearer canary', COOKIE: 'canary' } }],
    ['Proxy-Authorization', { ...least, headers: { 'proxy-authorization': 'Basic canary' } }],
    ['cookies', { ...least, headers: { cookie: '__Host-boxgate-shop=canary' } }],
    ['the access_token parameter', { ...least, params: { access_token: 'canary' } }],
    ['the query in the URI', { ...least, uri: '/users?access_token=canary' }],
    ['the fragment in the URI', { ...least, uri: '/users#access_token=canary' }],
    ["a client's secret", { ...least, client: { id: 'x', secret: 'canary' } }],
    ["a user's password hash", { ...least, user: { id: 1, password: 'canary' } }],
  ];
  for (const [what, parts] of leftOut) {
    it(`leaves out ${what}`, () => {
      expect(JSON.stringify(requestObject(parts))).not.to.contain('canary');
    });
  }

  it('keeps the other headers and parameters as they are', () => {
    const { headers, params } = requestObject({
      ...least,
      headers: { accept: '*/*', 'x-forwarded-for': ['a', 'b'] },
      params: { page: '2', id: ['1', '2'] },
    });
    expect(headers).to.deep.equal({ accept: '*/*', 'x-forwarded-for': ['a', 'b'] });
    expect(params).to.deep.equal({ page: '2', id: ['1', '2'] });
  });

  it('leaves out members without a value, so that no engine takes them for given', () => {
    const { token, session } = requestObject({
      ...least,
      token: { sub: 'x', exp: undefined },
      session: { scope: undefined },
    });
    expect(token).to.have.all.keys('sub');
    expect(session).to.be.empty;
  });

  it('does not change, and does not copy the depth of, what it is given', () => {
    const body = { a: { b: [1] } };
    const headers = Object.freeze({ authorization: 'x', host: 'y' });
    expect(requestObject({ ...least, body, headers }).body).to.equal(body);
  });

  it('keeps a member called __proto__ a member', () => {
    const { params } = requestObject({ ...least, params: hostile() });
    expect(Object.hasOwn(params, '__proto__')).to.be.true;
    expect(Object.hasOwn(Object.prototype, 'polluted')).to.be.false;
  });
});

function hostile(): Record<string, unknown> {
  return Object.fromEntries([['__proto__', { polluted: true }]]);
}
