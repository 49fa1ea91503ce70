import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubectl } from '../../support/cluster/install-crds.ts';
import { makeSigner } from '../../oauth/assertions.ts';
import { eventually } from '../../support/eventually.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

const grants = 'grant_types: [client_credentials]';

describe('boxgate operator, for a client with keys', () => {
  let rig: OperatorRig;
  let box: string;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'client-keys-'));
    rig = await startOperatorRig();
    await rig.operator();
    box = await rig.box();
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await rig.stop();
  });

  /** Applies a manifest with kubectl. Returns its output. */
  async function apply(name: string, spec: string): Promise<string> {
    const file = join(folder, `${name}.yaml`);
    const head = `apiVersion: boxgate.dev/v1\nkind: Client\nmetadata: {name: ${name}, namespace: ${box}}\nspec:\n`;
    writeFileSync(file, `${head}${spec.replaceAll(/^/gm, '  ')}\n`);
    return kubectl(rig.plane, 'apply', '-f', file).catch((error: unknown) => String(error));
  }

  it('R-21: the API server refuses a key whose y is not quoted, and says to quote it', async () => {
    const { x, y } = (await makeSigner('ES256')).publicJwk;
    const said = await apply(
      'unquoted',
      `${grants}\njwks: {keys: [{kty: EC, crv: P-256, x: ${x ?? ''}, y: ${y ?? ''}}]}`,
    );
    expect(said).to.contain('must have crv, x and "y" where kty is EC: quote "y", which YAML 1.1 takes for true');
    expect(await rig.find('Client', box, 'unquoted')).to.equal(undefined);
  });

  it('R-21: a key that cannot be imported makes the Client invalid, which names the key, until it is replaced', async () => {
    const { publicJwk } = await makeSigner('ES256');
    const { x } = publicJwk;
    const spec = { grant_types: ['client_credentials'], jwks: { keys: [publicJwk, { ...publicJwk, y: x }] } };
    await rig.put('Client', box, 'broken', spec);
    await eventually('it is not valid', async () => (await rig.condition('Client', box, 'broken')) === 'False/Invalid');
    expect(await rig.condition('Client', box, 'broken', 'Valid')).to.equal('False/Invalid');
    expect(JSON.stringify((await rig.find('Client', box, 'broken'))?.['status'])).to.contain(
      'spec.jwks.keys[1] must be a key that can be imported: its x and y are no point of P-256',
    );
    await rig.put('Client', box, 'broken', { ...spec, jwks: { keys: [publicJwk] } });
    await rig.ready('Client', box, 'broken');
  });

  it('R-21: kubectl takes active: no for false, and secret: yes for no secret', async () => {
    await apply('disabled', `${grants}\nactive: no`);
    const found = await rig.find('Client', box, 'disabled');
    expect(isObject(found?.['spec']) ? found['spec']['active'] : undefined).to.equal(false);
    expect(await apply('chosen', `${grants}\nsecret: yes`)).to.contain('spec.secret');
  });
});
