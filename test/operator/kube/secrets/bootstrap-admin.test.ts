import { expect } from 'chai';
import { PASSWORD_BYTES } from '../../../../crds/secret-text.ts';
import { newBrowser } from '../../../http/pages/browser.ts';
import { eventually } from '../../../support/eventually.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';
import { testSecrets } from './secret-things.ts';

const email = 'admin@shop.example';
const password = 'a long enough passphrase';
const spec = { bootstrap_admin: { email, passwordSecretRef: { name: 'first', key: 'password' } } };

describe('the bootstrap_admin of a Box in a cluster', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator();
  });
  after(() => rig.stop());

  async function signIn(box: string, word = password): Promise<number> {
    const browser = newBrowser(rig.api, box, `${rig.api.url}/boxes/${box}`);
    return (await browser.submit('/auth/signin', { email, password: word })).status;
  }
  const says = (box: string, reason: string, type?: string): Promise<void> =>
    eventually(`the Box says ${reason}`, async () => (await rig.condition('Box', box, 'box', type)) === reason);

  it('signs in once the Secret has come, and the label by which its owner lets it be used', async () => {
    const box = await rig.box();
    const secrets = testSecrets(rig.plane, box);
    await rig.put('Box', box, 'box', spec);
    await says(box, 'False/SecretNotFound');
    await secrets.make('first', { password }, { metadata: { name: 'first' } });
    await secrets.patch('first', { metadata: { labels: { 'boxgate.dev/client-secret': 'true' } } });
    await rig.ready('Box', box, 'box');
    expect([await signIn(box), await signIn(box, 'another long passphrase')]).to.deep.equal([303, 200]);
  });

  it('signs in with a password as long as one may be, which is kept whole', async () => {
    const box = await rig.box();
    const longest = `${'x'.repeat(PASSWORD_BYTES - 1)}!`;
    await testSecrets(rig.plane, box).make('first', { password: longest });
    await rig.put('Box', box, 'box', spec);
    await rig.ready('Box', box, 'box');
    expect([await signIn(box, longest), await signIn(box, longest.slice(0, 1_500))]).to.deep.equal([303, 200]);
  });

  it('waits where the operator holds no rights on Secrets, and the Box says which command binds them', async () => {
    const box = await rig.box({ secrets: false });
    await testSecrets(rig.plane, box).make('first', { password });
    await rig.put('Box', box, 'box', spec);
    await says(box, 'False/SecretForbidden', 'SecretReady');
    expect(await signIn(box)).to.equal(200);
  });

  it('is created again where the data of the box went with its Box, and with it the admin', async () => {
    const box = await rig.box();
    await testSecrets(rig.plane, box).make('first', { password });
    await rig.put('Client', box, 'app', { grant_types: ['client_credentials'] });
    await rig.put('Box', box, 'box', { ...spec, deletionPolicy: 'Delete' });
    await rig.ready('Box', box, 'box');
    expect(await signIn(box)).to.equal(303);
    await rig.remove('Box', box, 'box');
    await eventually('the Box is gone', async () => (await rig.find('Box', box, 'box')) === undefined);
    expect(await signIn(box)).to.equal(200);
    await rig.put('Box', box, 'box', spec);
    await rig.ready('Box', box, 'box');
    expect(await signIn(box)).to.equal(303);
  });
});
