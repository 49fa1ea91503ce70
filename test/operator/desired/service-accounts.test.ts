import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { proof } from '../../oauth/assertions.ts';
import { sendForm } from '../../oauth/requests.ts';
import { eventually } from '../../support/eventually.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

describe('boxgate operator, for a client of ServiceAccounts', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator();
  });
  after(() => rig.stop());

  it('tells the API whose tokens count, and calls the client Ready: it needs no Secret and no right on one', async () => {
    const box = await rig.box({ secrets: false });
    const account = `/api/v1/namespaces/${box}/serviceaccounts`;
    await rig.plane.call({ method: 'POST', path: account, body: { metadata: { name: 'app' } } });
    const spec = { grant_types: ['client_credentials'], service_accounts: [{ namespace: box, name: 'app' }] };
    await rig.put('Client', box, 'app', spec);
    await rig.ready('Client', box, 'app');
    expect(await rig.condition('Client', box, 'app', 'SecretReady')).to.equal('True/SecretNotNeeded');
    const url = `${rig.api.url}/boxes/${box}`;
    const metadata: unknown = await (await fetch(`${url}/.well-known/openid-configuration`)).json();
    const issuer = isObject(metadata) ? metadata['issuer'] : undefined;
    const { body } = await rig.plane.call({
      ...{ method: 'POST', path: `${account}/app/token`, body: { spec: { audiences: [issuer] } } },
    });
    const token = isObject(body) && isObject(body['status']) ? String(body['status']['token']) : '';
    const fields = { grant_type: 'client_credentials', client_id: 'app', ...proof(token) };
    expect((await sendForm(`${url}/auth/token`, fields)).status).to.equal(200);
    await rig.remove('Client', box, 'app');
    const status = async () => (await sendForm(`${url}/auth/token`, fields)).status;
    await eventually('it is refused once its object is gone', async () => (await status()) === 401);
  });
});
