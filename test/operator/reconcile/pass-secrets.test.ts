import { expect } from 'chai';
import { Secret } from '../../../api/client/secret.ts';
import type { DeclaredSecret } from '../../../operator/desired/declared.ts';
import { declared, edited, machineClient } from '../declare.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';

const label = { 'boxgate.dev/client-secret': 'true' };

function secretManifest(text: string): DeclaredSecret {
  const entries = new Map([['secret', new Secret(text)]]);
  return { namespace: 'x', name: 'chosen', type: 'Opaque', labels: label, entries };
}

describe('a pass over clients with secrets', () => {
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  const app = machineClient('app');
  const referring = machineClient('app', { secretRef: { name: 'chosen', key: 'secret' } });

  it('peer defect 8: waits for a Secret that is not there, and never invents one', async () => {
    await rig.pass([referring]);
    expect(rig.condition('Client/app')).to.equal('False/SecretNotFound');
    expect(rig.calls.flat()).to.deep.equal([]);
    rig.source.secrets = [secretManifest('the chosen one')];
    await rig.pass([referring]);
    expect(rig.condition('Client/app')).to.equal('True/Ready');
    expect(await rig.token('app', 'the chosen one')).to.equal(200);
  });

  it('lets the new secret in and the old one out when a Secret changes', async () => {
    rig.source.secrets = [secretManifest('first')];
    await rig.pass([referring]);
    rig.source.secrets = [secretManifest('second')];
    await rig.pass([referring]);
    expect(await rig.token('app', 'second')).to.equal(200);
    expect(await rig.token('app', 'first')).to.equal(401);
  });

  it('goes on with the last secret when its Secret is gone, is not Ready, and still takes other changes', async () => {
    rig.source.secrets = [secretManifest('first')];
    await rig.pass([referring]);
    rig.source.secrets = [];
    await rig.pass([referring]);
    expect(rig.condition('Client/app')).to.equal('False/SecretNotFound');
    expect(rig.condition('Client/app', 'Synced')).to.equal('True/Applied');
    expect(await rig.token('app', 'first')).to.equal(200);
    await rig.restart();
    await rig.pass([referring], 'everything');
    expect(await rig.token('app', 'first')).to.equal(200);
    const spec = { grant_types: ['client_credentials'], secretRef: { name: 'chosen', key: 'secret' }, active: false };
    await rig.pass([edited(referring, spec)]);
    expect(await rig.token('app', 'first')).to.equal(401);
  });

  it('takes the secret from a client that authenticates by keys from now on', async () => {
    await rig.pass([app]);
    const secret = rig.keeper.kept.get('app')?.value.reveal() ?? '';
    const jwks = { keys: [{ kty: 'RSA', n: 'w'.repeat(342), e: 'AQAB' }] };
    await rig.pass([edited(app, { grant_types: ['client_credentials'], jwks })]);
    expect(rig.condition('Client/app')).to.equal('True/Ready');
    expect(rig.condition('Client/app', 'SecretReady')).to.equal('True/SecretNotNeeded');
    expect(await rig.token('app', secret)).to.equal(401);
    expect(rig.keeper.kept.has('app')).to.equal(false);
  });

  it('keeps a generated secret that its client refers to from now on', async () => {
    await rig.pass([app]);
    const secret = rig.keeper.kept.get('app')?.value.reveal() ?? '';
    rig.source.secrets = [{ ...secretManifest(secret), name: 'app' }];
    const secretRef = { name: 'app', key: 'secret' };
    const exported = edited(app, { grant_types: ['client_credentials'], secretRef });
    for (const scope of ['changes', 'everything', 'everything'] as const) await rig.pass([exported], scope);
    expect(await rig.token('app', secret)).to.equal(200);
    expect(rig.keeper.kept.has('app')).to.equal(true);
  });

  it('forgets a generated secret whose client went while nobody watched, at the second sweep', async () => {
    await rig.pass([app]);
    await rig.restart();
    await rig.pass([], 'everything');
    expect(rig.keeper.kept.has('app')).to.equal(true);
    await rig.pass([], 'everything');
    expect(rig.keeper.kept.has('app')).to.equal(false);
  });

  it('keeps a generated secret while a faulty client may be the one that has it', async () => {
    await rig.pass([app]);
    await rig.restart();
    const faulty = edited(app, { grant_types: ['x'] });
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await rig.pass([faulty], 'everything');
    expect(rig.keeper.kept.has('app')).to.equal(true);
  });

  it('names the issuer of the box in generated secrets, and the new one when it changes', async () => {
    const box = (issuer?: string) => edited(declared('Box', 'box', issuer === undefined ? {} : { issuer }));
    await rig.pass([app, box()]);
    const issuer = () => rig.keeper.kept.get('app')?.request.facts.issuer;
    expect(issuer()).to.equal(`${rig.api.url}/boxes/${rig.box}`);
    await rig.pass([app, box('https://id.example.com')]);
    expect(issuer()).to.equal('https://id.example.com');
    expect(rig.source.statuses.get('Box/box')?.columns).to.include({ issuer: 'https://id.example.com', clients: 1 });
  });
});
