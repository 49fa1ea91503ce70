import { expect } from 'chai';
import { isObject, parseJson } from '../../../crds/path.ts';
import { kubectl } from '../../support/cluster/install-crds.ts';
import { makeSigner } from '../../oauth/assertions.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

const auth = { authorization_code: { redirect_uris: ['https://a.example/back', 'https://b.example/back'] } };

describe('what kubectl get shows of a client', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator();
  });
  after(() => rig.stop());

  it('its grants, and where its secret comes from or what stands in for it', async () => {
    const box = await rig.box();
    const { publicJwk } = await makeSigner('RS256', 'one');
    await rig.put('Client', box, 'app', { grant_types: ['authorization_code'], auth });
    await rig.put('Client', box, 'api', { grant_types: [] });
    await rig.put('Client', box, 'signer', { grant_types: ['client_credentials'], jwks: { keys: [publicJwk] } });
    const rows: readonly (readonly [name: string, grants: string, secret: string])[] = [
      ['app', 'authorization_code', 'none (public)'],
      ['api', 'none', 'generated'],
      ['signer', 'client_credentials', 'none (keys)'],
    ];
    for (const [name] of rows) await rig.ready('Client', box, name);
    const shown = await kubectl(rig.plane, 'get', 'clients', '--namespace', box);
    const cells = shown.split('\n').map((line) => line.split(/ {2,}/).slice(1, 4));
    expect(cells[0]).to.deep.equal(['ID', 'GRANTS', 'SECRET']);
    for (const row of rows) expect(cells).to.deep.include([...row]);
  });

  it('whether its entry refresh_token has an effect, without holding back Ready', async () => {
    const box = await rig.box();
    const grant_types = ['client_credentials', 'refresh_token'];
    await rig.put('Client', box, 'idle', { grant_types });
    await rig.put('Client', box, 'refreshing', { grant_types, auth: { client_credentials: { refresh_token: true } } });
    for (const name of ['idle', 'refreshing']) await rig.ready('Client', box, name);
    expect(await rig.condition('Client', box, 'idle', 'NotInForce')).to.equal('True/RefreshNotEnabled');
    expect(await rig.condition('Client', box, 'refreshing', 'NotInForce')).to.equal('undefined/undefined');
    const described = await kubectl(rig.plane, 'describe', 'client/idle', '--namespace', box);
    expect(described).to.contain('Set refresh_token: true in the settings of a listed grant');
  });

  it('a Secret with what a resource server needs to introspect', async () => {
    const box = await rig.box();
    await rig.put('Client', box, 'api', { grant_types: [] });
    await rig.ready('Client', box, 'api');
    const keys = await kubectl(rig.plane, 'get', 'secret', 'api', '--namespace', box, '--output', 'jsonpath={.data}');
    const data = parseJson(keys);
    expect(isObject(data) ? Object.keys(data) : []).to.include.members(['client_id', 'client_secret', 'issuer']);
  });
});
