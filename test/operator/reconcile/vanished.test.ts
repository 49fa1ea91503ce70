import { expect } from 'chai';
import { startApi, type TestApi } from '../../support/api.ts';
import { machineClient } from '../declare.ts';
import { passRig } from '../pass-rig.ts';

describe('objects that vanish from a list', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const clients = Array.from({ length: 40 }, (_, index) => machineClient(`app${String(index)}`));

  it('F-10 removes nothing while many are missing that are not gone, says so, and goes on once that is over', async () => {
    const rig = await passRig(api, 'vanished');
    await rig.pass(clients);
    const secrets = new Map(clients.map(({ name }) => [name, rig.keeper.kept.get(name)?.value.reveal()]));
    const works = async (name: string): Promise<number> => rig.token(name, secrets.get(name));
    // Five are gone in truth, eleven are merely not in the list.
    rig.source.hidden = clients.slice(5, 16);
    await rig.pass(clients.slice(16));
    expect(await works('app0')).to.equal(200);
    expect(await works('app10')).to.equal(200);
    expect(rig.events.recorded.map(({ reason }) => reason)).to.include('ManyVanished');
    // Ten are no reason to wonder.
    rig.source.hidden = clients.slice(5, 15);
    await rig.pass(clients.slice(15), 'everything');
    expect(await works('app0')).to.equal(401);
    expect(await works('app10')).to.equal(200);
    rig.source.hidden = [];
    await rig.pass(clients.slice(15), 'everything');
    expect(await works('app10')).to.equal(401);
    expect(await works('app15')).to.equal(200);
  });

  it('F-10 keeps the generated secrets of clients that are merely missing in the list, through many sweeps', async () => {
    const rig = await passRig(api, 'kept');
    const few = clients.slice(0, 3);
    await rig.pass(few);
    const secret = rig.keeper.kept.get('app0')?.value.reveal();
    rig.source.hidden = few.slice(0, 1);
    for (let sweep = 0; sweep < 4; sweep += 1) await rig.pass(few.slice(1), 'everything');
    expect(rig.keeper.kept.get('app0')?.value.reveal()).to.equal(secret);
    rig.source.hidden = [];
    for (let sweep = 0; sweep < 3; sweep += 1) await rig.pass(few.slice(1), 'everything');
    expect([...rig.keeper.kept.keys()]).to.have.members(['app1', 'app2']);
  });
});
