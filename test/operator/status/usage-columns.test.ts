import { expect } from 'chai';
import { isObject } from '../../../crds/path.ts';
import { kubectl } from '../../support/cluster/install-crds.ts';
import { sendForm, textOf } from '../../oauth/requests.ts';
import { eventually } from '../../support/eventually.ts';
import { testSecrets } from '../kube/secrets/secret-things.ts';
import { startProcessRig, type ProcessRig } from '../operator-rig.ts';

describe('what a cluster shows of usage', () => {
  let rig: ProcessRig;
  before(async () => {
    rig = await startProcessRig();
    await rig.operator({ BOXGATE_SWEEP_SECONDS: '1', BOXGATE_USAGE_SECONDS: '1' });
  });
  after(() => rig.stop());

  it('kubectl get -o wide shows the sessions and the last token of a client, and nothing of one that was never used', async () => {
    const box = await rig.box();
    for (const name of ['used', 'unused']) {
      await rig.put('Client', box, name, { grant_types: ['client_credentials'], secret: 'a-secret' });
      await rig.ready('Client', box, name);
    }
    for (let count = 0; count < 3; count += 1) expect(await rig.token(box, 'used', 'a-secret')).to.equal(200);
    const wide = (): Promise<string> => kubectl(rig.plane, 'get', 'clients', '--namespace', box, '--output', 'wide');
    await eventually('it is shown', async () => /^used +used .* True +\S+ +\d+\w* +3$/m.test(await wide()), 150_000);
    expect(await wide()).to.match(/^unused +unused .* True +Ready +\S+ *$/m);
  });

  it('the status of a Client says when its previous secret was last used, and nothing before that', async () => {
    const box = await rig.box();
    const rotating = { grant_types: ['client_credentials'], generateSecret: {} };
    await rig.put('Client', box, 'app', rotating);
    await rig.ready('Client', box, 'app');
    const secrets = testSecrets(rig.plane, box);
    const secret = async (): Promise<string> => (await secrets.find('app'))?.data['client_secret'] ?? '';
    const previous = await secret();
    const rotation = { at: new Date(Date.now() + 1_000).toISOString(), overlap: '1h' };
    await rig.put('Client', box, 'app', { ...rotating, rotation });
    await eventually('it is rotated', async () => (await secret()) !== previous);
    const lastUsed = async (): Promise<unknown> => {
      const { status } = (await rig.find('Client', box, 'app')) ?? {};
      return isObject(status) ? status['previousSecretLastUsed'] : 'no status';
    };
    expect(await lastUsed()).to.equal(undefined);
    const start = Date.now();
    expect(await rig.token(box, 'app', previous)).to.equal(200);
    // An API that stops writes what it has noted: the test need not wait for the minute.
    await rig.api.end('SIGTERM');
    await rig.restartApi();
    await eventually('the use is shown', async () => typeof (await lastUsed()) === 'string');
    expect(Date.parse(String(await lastUsed()))).to.be.within(start - 1_000, Date.now());
  });

  it('the status of an AccessPolicy says in which hour it last granted a request, and nothing if it never did', async () => {
    const box = await rig.box();
    const link = [{ resourceType: 'Client', id: 'caller' }];
    await rig.put('Client', box, 'caller', { grant_types: ['client_credentials'], secret: 'a-secret' });
    await rig.put('AccessPolicy', box, 'used', { engine: 'matcho', link, matcho: { uri: '/Client' } });
    await rig.put('AccessPolicy', box, 'unused', { engine: 'matcho', link, matcho: { uri: '/Group' } });
    await rig.ready('Client', box, 'caller');
    for (const name of ['used', 'unused']) await rig.ready('AccessPolicy', box, name);
    const base = `${rig.api.url}/boxes/${box}`;
    const fields = { grant_type: 'client_credentials', client_id: 'caller', client_secret: 'a-secret' };
    const token = textOf(await sendForm(`${base}/auth/token`, fields), 'access_token');
    const headers = { Authorization: `Bearer ${token}` };
    const start = Date.now();
    expect((await fetch(`${base}/Client`, { headers })).status).to.equal(200);
    const lastUsed = async (name: string): Promise<unknown> => {
      const { status } = (await rig.find('AccessPolicy', box, name)) ?? {};
      return isObject(status) ? status['lastUsed'] : 'no status';
    };
    await eventually('the use is shown', async () => typeof (await lastUsed('used')) === 'string');
    const shown = Date.parse(String(await lastUsed('used')));
    expect(shown % 3_600_000).to.equal(0);
    expect(shown).to.be.within(start - 3_600_000, Date.now());
    expect(await lastUsed('unused')).to.equal(undefined);
    expect(await rig.condition('AccessPolicy', box, 'used')).to.equal('True/Ready');
    const json = ['get', 'bxp', 'used', '--namespace', box, '--output', 'jsonpath={.status.lastUsed}'] as const;
    expect(Date.parse(await kubectl(rig.plane, ...json))).to.equal(shown);
  });
});
