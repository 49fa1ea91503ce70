import { expect } from 'chai';
import { startCaller, type Caller } from '../caller/caller.ts';
import { openPath, startGateway } from '../gateway.ts';
import { kubectl, readObject, untilReady } from '../kubectl.ts';
import { eventually } from '../../support/eventually.ts';
import { createNamespace, declare, deleteNamespace } from '../namespace.ts';
import { median, report } from '../timed.ts';
import { bearer, boxUrl, secretEntries, tokenOf, tokenRequest } from '../token.ts';

const namespace = 'shop';

describe('story 3: a gateway that asks for each request', () => {
  let caller: Caller;
  let gateway: string;
  let token: string;
  before(async () => {
    await createNamespace(namespace);
    const link = [{ resourceType: 'Client', id: 'reports' }];
    const matcho = { 'request-method': 'get', uri: '#^/orders(/|$)' };
    await declare(namespace, [
      { kind: 'Box', name: 'box', spec: {} },
      { kind: 'Client', name: 'reports', spec: { grant_types: ['client_credentials'] } },
      { kind: 'AccessPolicy', name: 'orders-read', spec: { engine: 'matcho', link, apps: ['orders.example'], matcho } },
    ]);
    await untilReady('boxes,clients,accesspolicies', namespace);
    [caller, gateway] = await Promise.all([startCaller({ namespace, name: 'caller' }), startGateway(namespace)]);
    // A pod is Ready before each node sends requests of its Service to it.
    await eventually('the gateway answers', async () => {
      const { status } = await caller.call({ url: `${gateway}${openPath}7` });
      return status === 200;
    });
    const secret = secretEntries(await readObject({ object: 'secret/reports', namespace }));
    token = await tokenOf(
      caller,
      tokenRequest(`${boxUrl(namespace)}/auth/token`, 'reports', secret['client_secret'] ?? ''),
    );
  });
  after(async () => {
    await caller.close();
    await deleteNamespace(namespace);
  });

  it('answers 200 where a policy for the app grants the request, and tells the app the client', async () => {
    const { status, body } = await caller.call(bearer(`${gateway}/orders/7`, token));
    expect(status).to.equal(200);
    expect(body).to.equal('app for reports');
  });

  const refused: [method: string, path: string][] = [
    ['POST', '/orders/7'],
    ['DELETE', '/orders'],
    ['GET', '/orders-of-others'],
    ['GET', '/'],
  ];
  for (const [method, path] of refused) {
    it(`answers 403 to ${method} ${path}, which no policy grants`, async () => {
      expect((await caller.call(bearer(`${gateway}${path}`, token, method))).status).to.equal(403);
    });
  }

  it('answers 401 without a token, and with one that is not valid', async () => {
    expect((await caller.call({ url: `${gateway}/orders/7` })).status).to.equal(401);
    expect((await caller.call(bearer(`${gateway}/orders/7`, 'bgs_not-a-token'))).status).to.equal(401);
  });

  it('prints the latency that auth_request adds', async () => {
    const times = 200;
    const [open, asked] = [`${gateway}${openPath}7`, `${gateway}/orders/7`];
    await caller.measure(bearer(open, token), times);
    await caller.measure(bearer(asked, token), times);
    const without = median(await caller.measure(bearer(open, token), times));
    const withIt = median(await caller.measure(bearer(asked, token), times));
    report('p50 of a request through nginx', `${without.toFixed(2)} ms, with auth_request ${withIt.toFixed(2)} ms`);
    report('added by auth_request, p50', `${(withIt - without).toFixed(2)} ms (goal: 3 ms)`);
  });

  it('answers 403 to the next request after the policy is removed', async () => {
    await kubectl('delete', 'accesspolicy', 'orders-read', '--namespace', namespace, '--timeout', '60s');
    expect((await caller.call(bearer(`${gateway}/orders/7`, token))).status).to.equal(403);
  });
});
