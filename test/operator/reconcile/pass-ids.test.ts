import { expect } from 'chai';
import { machineClient } from '../declare.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';

describe('a pass over objects that want one id', () => {
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  const app = machineClient('app');

  it('C-09 gives an id to the oldest object, and to the next one when that is gone', async () => {
    const old = { ...machineClient('old', { id: 'shared', name: 'Old' }), created: '1' };
    const young = { ...machineClient('young', { id: 'shared', name: 'Young' }), created: '2' };
    await rig.pass([young, old]);
    expect(rig.condition('Client/old')).to.equal('True/Ready');
    expect(rig.condition('Client/young')).to.equal('False/DeclaredTwice');
    expect(await rig.token('shared', rig.keeper.kept.get('old')?.value.reveal())).to.equal(200);
    await rig.pass([young]);
    expect(rig.condition('Client/young')).to.equal('True/Ready');
    expect(await rig.token('shared', rig.keeper.kept.get('young')?.value.reveal())).to.equal(200);
  });

  it('C-09 takes an id from an object that had it first when an older one appears, also after a restart', async () => {
    const old = { ...machineClient('old', { id: 'shared' }), created: '1' };
    const young = { ...machineClient('young', { id: 'shared' }), created: '2' };
    await rig.pass([young]);
    await rig.restart();
    await rig.pass([young, old], 'everything');
    expect(rig.condition('Client/old')).to.equal('True/Ready');
    expect(rig.condition('Client/young')).to.equal('False/DeclaredTwice');
  });

  it('R-22 leaves an id to the object that has it when another one of the same second appears, also after a restart', async () => {
    const first = { ...machineClient('first', { id: 'shared' }), created: '1', uid: '2' };
    const second = { ...machineClient('second', { id: 'shared' }), created: '1', uid: '1' };
    await rig.pass([first]);
    const secret = rig.keeper.kept.get('first')?.value.reveal();
    const version = await rig.version();
    for (const scope of ['changes', 'everything'] as const) {
      await rig.pass([second, first], scope);
      expect(rig.condition('Client/first')).to.equal('True/Ready');
      expect(rig.condition('Client/second')).to.equal('False/DeclaredTwice');
      await rig.restart();
    }
    await rig.pass([second, first], 'everything');
    expect(rig.condition('Client/first')).to.equal('True/Ready');
    expect(await rig.token('shared', secret)).to.equal(200);
    expect(await rig.version()).to.equal(version);
    await rig.pass([second]);
    expect(rig.condition('Client/second')).to.equal('True/Ready');
  });

  it('passes an id on when an object is renamed, in one call', async () => {
    await rig.pass([machineClient('before', { id: 'shared' })]);
    rig.calls.length = 0;
    await rig.pass([machineClient('after', { id: 'shared' })]);
    expect(rig.calls).to.have.length(1);
    expect(rig.condition('Client/after')).to.equal('True/Ready');
    expect(await rig.token('shared', rig.keeper.kept.get('after')?.value.reveal())).to.equal(200);
  });

  it('passes an id on when an object was renamed while nobody watched', async () => {
    await rig.pass([machineClient('before', { id: 'shared' })]);
    await rig.restart();
    await rig.pass([machineClient('after', { id: 'shared' })], 'everything');
    expect(rig.condition('Client/after')).to.equal('True/Ready');
  });

  it('says who has an id that was made by somebody else, and takes it over at the sweep after that is gone', async () => {
    const { api, box } = rig;
    await api.declare(box, [{ kind: 'Client', id: 'app', grant_types: ['client_credentials'], secret: 'theirs' }]);
    await rig.pass([app]);
    expect(rig.condition('Client/app')).to.equal('False/OwnedByAnother');
    expect(await rig.token('app', 'theirs')).to.equal(200);
    rig.calls.length = 0;
    await rig.pass([app]);
    expect(rig.calls).to.deep.equal([]);
    await api.remove(box, [{ kind: 'Client', id: 'app' }]);
    await rig.pass([app], 'everything');
    expect(rig.condition('Client/app')).to.equal('True/Ready');
    expect(await rig.token('app')).to.equal(200);
  });
});
