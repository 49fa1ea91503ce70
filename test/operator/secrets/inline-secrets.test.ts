import { expect } from 'chai';
import { startApi, type TestApi } from '../../support/api.ts';
import { declared, edited, machineClient } from '../declare.ts';
import { passRig, type PassRig } from '../pass-rig.ts';

describe('a secret that is in a Client', () => {
  let api: TestApi;
  let rig: PassRig;

  before(async () => {
    api = await startApi();
    rig = await passRig(api, 'box');
  });
  after(() => api.stop());

  it('is told of by a Warning once, not by every sweep, and by a condition for as long as it stands there', async () => {
    const inline = machineClient('inline', { secret: 'chosen' });
    const other = machineClient('other');
    await rig.pass([inline, other]);
    await rig.pass([inline, other], 'everything');
    await rig.pass([edited(inline, { grant_types: ['client_credentials'], secret: 'another' }), other], 'everything');
    expect(rig.events.recorded).to.deep.equal([
      {
        object: { kind: 'Client', namespace: 'box', name: 'inline', uid: inline.uid },
        type: 'Warning',
        reason: 'InlineSecret',
        message:
          'spec.secret is for development only. Set spec.secretRef instead, or nothing: then a secret is generated',
        isInStatus: true,
      },
    ]);
    expect(rig.condition('Client/inline', 'InlineSecret')).to.equal('True/SecretInManifest');
    expect(rig.condition('Client/other', 'InlineSecret')).to.equal(undefined);
  });

  it('is told of again where it was taken away and came back, also with an object that was created again', async () => {
    const count = () => rig.events.recorded.filter(({ reason }) => reason === 'InlineSecret').length;
    const before = count();
    await rig.pass([machineClient('inline')]);
    expect(rig.condition('Client/inline', 'InlineSecret')).to.equal(undefined);
    expect(count()).to.equal(before);
    const again = machineClient('inline', { secret: 'chosen' });
    await rig.pass([{ ...again, resourceVersion: '3' }]);
    expect(count()).to.equal(before + 1);
    const spec = { grant_types: ['client_credentials'], secret: 'chosen' };
    await rig.pass([declared('Client', 'inline', spec, { uid: 'made-again' })]);
    expect(count()).to.equal(before + 2);
  });
});
