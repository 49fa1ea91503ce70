import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';
import { allowAgain, deny, isDenied, sentence } from '../admission-rule.ts';
import { testSecrets, type TestSecrets } from './secret-things.ts';

describe('the Secret of a retained Client', () => {
  let rig: OperatorRig;
  let box: string;
  let secrets: TestSecrets;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator({ BOXGATE_SWEEP_SECONDS: '2' });
    box = await rig.box();
    secrets = testSecrets(rig.plane, box);
  });
  after(async () => {
    await allowAgain(rig.plane, box);
    await rig.stop();
  });

  const machine = { grant_types: ['client_credentials'] };
  const valueOf = async (name: string): Promise<string> => (await secrets.find(name))?.data['client_secret'] ?? '';

  it('keeps its Client while an admission rule forbids its release, and says so', async () => {
    // E-06: the Client was released nevertheless, and Kubernetes deleted the Secret with it.
    await rig.put('Client', box, 'app', { ...machine, deletionPolicy: 'Retain' });
    await rig.put('Client', box, 'other', machine);
    for (const name of ['app', 'other']) await rig.ready('Client', box, name);
    const before = await valueOf('app');
    await deny(rig.plane, {
      namespace: box,
      group: '',
      resource: 'secrets',
      expression: "object.metadata.name != 'app'",
    });
    await eventually('it is denied', () => isDenied(rig.plane, `/api/v1/namespaces/${box}/secrets/app`));
    await rig.remove('Client', box, 'app');
    await eventually('an event says so', async () => {
      const { body } = await rig.plane.call({ path: `/apis/events.k8s.io/v1/namespaces/${box}/events` });
      const events = isObject(body) ? JSON.stringify(body['items']) : '';
      return events.includes('Secret app, which is to be retained, was refused') && events.includes(sentence);
    });
    await rig.put('Client', box, 'other', { ...machine, active: false });
    await eventually('the box goes on', async () => (await rig.token(box, 'other', await valueOf('other'))) === 401);
    expect(await rig.find('Client', box, 'app')).not.to.equal(undefined);
    expect((await secrets.find('app'))?.owners).to.have.length(1);
    await allowAgain(rig.plane, box);
    await eventually('it is released', async () => (await rig.find('Client', box, 'app')) === undefined);
    expect((await secrets.find('app'))?.owners).to.have.length(0);
    expect(await rig.token(box, 'app', before)).to.equal(200);
  });
});
