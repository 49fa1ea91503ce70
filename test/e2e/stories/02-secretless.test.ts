import { expect } from 'chai';
import { startCaller, type Caller } from '../caller/caller.ts';
import { kubectl, listObjects, nameOf, untilReady } from '../kubectl.ts';
import { createNamespace, declare, deleteNamespace } from '../namespace.ts';
import { assertionRequest, bearer, boxUrl, tokenOf } from '../token.ts';

const namespace = 'secretless';
const box = boxUrl(namespace);

describe('story 2: a pod without a Secret', () => {
  let invoices: Caller;
  let stranger: Caller;
  before(async () => {
    await createNamespace(namespace, { secretless: true });
    await kubectl('create', 'serviceaccount', 'invoices', '--namespace', namespace);
    await kubectl('create', 'serviceaccount', 'stranger', '--namespace', namespace);
    await declare(namespace, [
      {
        kind: 'Client',
        name: 'invoices',
        spec: { grant_types: ['client_credentials'], service_accounts: [{ namespace, name: 'invoices' }] },
      },
      {
        kind: 'AccessPolicy',
        name: 'invoices',
        spec: { engine: 'allow', link: [{ resourceType: 'Client', id: 'invoices' }] },
      },
    ]);
    await untilReady('clients,accesspolicies', namespace);
    const pod = (name: string) => startCaller({ namespace, name, serviceAccount: name, audience: box });
    [invoices, stranger] = await Promise.all([pod('invoices'), pod('stranger')]);
  });
  after(async () => {
    await Promise.all([invoices.close(), stranger.close()]);
    await deleteNamespace(namespace);
  });

  const request = async (caller: Caller) =>
    assertionRequest(`${box}/auth/token`, 'invoices', await caller.read('/account/token'));

  it('gets a token for the token of its ServiceAccount, and uses it', async () => {
    const token = await tokenOf(invoices, await request(invoices));
    expect((await invoices.call(bearer(`${box}/Session`, token))).status).to.equal(200);
  });

  it('is refused with another ServiceAccount', async () => {
    const { status, body } = await stranger.call(await request(stranger));
    expect(status).to.equal(401);
    expect(body).to.contain('"invalid_client"');
  });

  it('has no Secret in its namespace', async () => {
    expect((await listObjects('secrets', { namespace })).map(nameOf)).to.deep.equal([]);
  });
});
