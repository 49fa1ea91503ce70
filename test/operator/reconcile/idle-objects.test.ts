import { expect } from 'chai';
import { Secret } from '../../../api/client/secret.ts';
import type { Declared } from '../../../operator/desired/declared.ts';
import { edited, machineClient } from '../declare.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';

/** Rules of docs/guides/tenancy.md for objects that are not applied. */
describe('R-B2 an object that is not applied', () => {
  const spec = { grant_types: ['client_credentials'], secret: 'of-app' };
  const app = machineClient('app', spec);
  const idle: Readonly<Record<string, Declared>> = {
    suspended: edited(app, { ...spec, active: false, suspend: true }),
    invalid: edited(app, { ...spec, active: false, no_such_field: true }),
  };
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  for (const [what, object] of Object.entries(idle)) {
    it(`leaves its client as it was, also with active: false, and says so: ${what}`, async () => {
      await rig.pass([app]);
      await rig.pass([object], 'everything');
      expect(await rig.token('app', 'of-app')).to.equal(200);
      expect(rig.condition('Client/app')).to.equal(what === 'invalid' ? 'False/Invalid' : 'Unknown/Suspended');
    });

    it(`takes its row with it when it is deleted: ${what}`, async () => {
      await rig.pass([app]);
      await rig.pass([object], 'everything');
      await rig.pass([]);
      expect(await rig.token('app', 'of-app')).to.equal(401);
    });
  }

  it('keeps the last secret when the label of its Secret is withdrawn, and ends with active: false', async () => {
    const referring = { grant_types: ['client_credentials'], secretRef: { name: 'chosen', key: 'value' } };
    const labelled = {
      namespace: rig.box,
      name: 'chosen',
      type: 'Opaque',
      labels: { 'boxgate.dev/client-secret': 'true' },
      entries: new Map([['value', new Secret('of-app')]]),
    };
    rig.source.secrets = [labelled];
    await rig.pass([edited(app, referring)]);
    rig.source.secrets = [{ ...labelled, labels: {} }];
    await rig.pass([edited(app, referring)]);
    expect(rig.condition('Client/app')).to.equal('False/SecretNotLabelled');
    expect(await rig.token('app', 'of-app')).to.equal(200);
    await rig.pass([edited(app, { ...referring, active: false })]);
    expect(await rig.token('app', 'of-app')).to.equal(401);
  });
});
