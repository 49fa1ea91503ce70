import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { allowAgain, deny, isDenied, sentence } from '../admission-rule.ts';
import { eachInCluster, machine, type SourceRig } from '../source-rig.ts';

describe('an object that an admission rule does not let the operator change', () => {
  let rig: SourceRig;
  eachInCluster((made) => (rig = made));
  afterEach(() => allowAgain(rig.plane, rig.box));

  const denyAllBut = (expression: string): Promise<void> =>
    deny(rig.plane, { namespace: rig.box, group: 'boxgate.dev', resource: 'clients', expression });
  const isSoon = (name: string): Promise<void> =>
    eventually(`changes of ${name} are denied`, () => isDenied(rig.plane, rig.at('Client', name)));

  async function message(name: string): Promise<string> {
    const { conditions } = await rig.find('Client', name);
    return String(conditions.find(({ type }) => type === 'Ready')?.['message']);
  }

  it('says so where it cannot be released, and holds up nothing else of its box', async () => {
    // E-06: one refused release stopped the whole box, whose statuses said that the API is away.
    await rig.start();
    for (const name of ['old', 'dis']) await rig.put('Client', name, machine(`of-${name}`));
    await rig.put('Box', 'box', {});
    for (const name of ['old', 'dis']) await rig.ready('Client', name);
    await denyAllBut("object.metadata.name != 'old'");
    await isSoon('old');
    await rig.plane.call({ method: 'DELETE', path: rig.at('Client', 'old') });
    await eventually('it is told', async () => (await rig.condition('Client', 'old')) === 'False/FinalizerRefused');
    expect(await message('old'))
      .to.contain(sentence)
      .and.to.contain('cannot release it');
    expect(await rig.token('old', 'of-old')).to.equal(401);
    await rig.put('Client', 'dis', { ...machine('of-dis'), active: false });
    await eventually('it gets no token', async () => (await rig.token('dis', 'of-dis')) === 401);
    await rig.put('Client', 'new', machine('of-new'));
    await rig.ready('Client', 'new');
    expect(await rig.token('new', 'of-new')).to.equal(200);
    expect(await rig.condition('Box', 'box')).to.equal('True/Ready');
    expect(rig.failures.map(String).join()).to.contain(sentence);
    await allowAgain(rig.plane, rig.box);
    const isGone = async (): Promise<boolean> =>
      (await rig.plane.call({ path: rig.at('Client', 'old') })).status === 404;
    await eventually('it is released', isGone);
  });

  it('says so where it cannot be held, while all others are Ready', async () => {
    // E-06: one refused finalizer left every object of the box without a status.
    await denyAllBut("object.metadata.name != 'bad'");
    await rig.put('Client', 'bad', machine('of-bad'));
    await isSoon('bad');
    await rig.put('Client', 'good', machine('of-good'));
    await rig.start();
    await rig.ready('Client', 'good');
    await eventually('it is told', async () => (await rig.condition('Client', 'bad')) === 'False/FinalizerRefused');
    expect(await message('bad')).to.contain(sentence);
    expect(await rig.token('bad', 'of-bad')).to.equal(200);
    await allowAgain(rig.plane, rig.box);
    await rig.ready('Client', 'bad');
  });
});
