import { expect } from 'chai';
import { startCaller, type Caller } from '../caller/caller.ts';
import { readE2eConfig } from '../config.ts';
import { apply, kubectl, listObjects, nameOf, untilReady, untilRolledOut } from '../kubectl.ts';
import { replaced } from '../../support/page-block.ts';
import { eventually } from '../../support/eventually.ts';
import { assertionRequest, bearer, boxUrl, tokenOf } from '../token.ts';

const namespace = 'bakery';
const box = boxUrl(namespace);

describe('story 2: a pod without a Secret', () => {
  let ovens: Caller;
  let stranger: Caller;
  before(async () => {
    await apply(replaced(await kubectl('kustomize', 'examples/kubernetes/secretless'), images()));
    await untilReady('clients,accesspolicies', namespace);
    await kubectl('create', 'serviceaccount', 'stranger', '--namespace', namespace);
    const pod = (serviceAccount: string) =>
      startCaller({ namespace, name: `caller-${serviceAccount}`, serviceAccount, audience: box });
    [ovens, stranger] = await Promise.all([pod('ovens'), pod('stranger')]);
  });
  after(async () => {
    await Promise.all([ovens.close(), stranger.close()]);
    await kubectl('delete', 'namespace', namespace, '--timeout', '120s');
  });

  const request = async (caller: Caller) =>
    assertionRequest(`${box}/auth/token`, 'ovens', await caller.read('/account/token'));

  for (const container of ['shell', 'node']) {
    it(`gets a token and uses it: the container ${container} of the example`, async () => {
      await untilRolledOut('deployment/ovens', namespace);
      await eventually(`${container} has read sessions`, async () => {
        const log = await kubectl('logs', 'deployment/ovens', '--container', container, '--namespace', namespace);
        return log.includes('GET /Session 200');
      });
    });
  }

  it('is refused with another ServiceAccount', async () => {
    const { status, body } = await stranger.call(await request(stranger));
    expect(status).to.equal(401);
    expect(body).to.contain('"invalid_client"');
  });

  it('gets what its policy grants, and nothing else', async () => {
    const token = await tokenOf(ovens, await request(ovens));
    expect((await ovens.call(bearer(`${box}/Session`, token))).status).to.equal(200);
    expect((await ovens.call(bearer(`${box}/Client`, token))).status).to.equal(403);
  });

  it('has no Secret in its namespace', async () => {
    expect((await listObjects('secrets', { namespace })).map(nameOf)).to.deep.equal([]);
  });
});

/** The images of the example, which need a registry, and those of the run that have the same programs. */
function images(): Readonly<Record<string, string>> {
  const { image, nginxImage } = readE2eConfig();
  return { 'curlimages/curl:8.16.0': nginxImage, 'node:24-bookworm-slim': image };
}
