import { expect } from 'chai';
import type { Declared } from '../../../operator/desired/declared.ts';
import { sendJson } from '../../oauth/requests.ts';
import { declaredBox } from '../../http/declared-box.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { unthrottled } from '../../support/unthrottled.ts';
import { allowPolicy, declared, machineClient } from '../declare.ts';
import { passRig, type PassRig } from '../pass-rig.ts';

const admin = machineClient('admin');
const everything = allowPolicy('everything', 'admin');
const always = [admin, everything];

describe('deletionPolicy and adoption against a real API', () => {
  let api: TestApi;
  let rig: PassRig;
  let box = '';
  let boxes = 0;

  before(async () => {
    api = await startApi({ environment: unthrottled });
  });
  after(() => api.stop());
  beforeEach(async () => {
    boxes += 1;
    box = `life-${String(boxes)}`;
    rig = await passRig(api, box);
  });

  /** A pass over these objects and the administrator. */
  const pass = (...objects: readonly Declared[]) => rig.pass([...always, ...objects]);
  const sweep = (...objects: readonly Declared[]) => rig.pass([...always, ...objects], 'everything');
  const secretOf = (name: string) => rig.keeper.kept.get(name)?.value.reveal() ?? '';

  async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    return (await sendJson(`${api.url}/boxes/${box}${path}`, body)).body;
  }

  async function tokenOf(id: string, secret = secretOf(id)): Promise<string> {
    const answer = await post('/auth/token', {
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret,
    });
    return String(answer['access_token']);
  }

  async function isLive(token: string): Promise<unknown> {
    const credentials = { client_id: 'admin', client_secret: secretOf('admin') };
    return (await post('/auth/introspect', { ...credentials, token }))['active'];
  }

  /** Over REST, as the administrator. */
  async function rest(method: string, path: string, body?: object): Promise<number> {
    const headers = { Authorization: `Bearer ${await tokenOf('admin')}`, 'Content-Type': 'application/json' };
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    return (await fetch(`${api.url}/boxes/${box}${path}`, { method, headers, ...given })).status;
  }

  const kept = machineClient('app', { deletionPolicy: 'Retain' });
  const foreign = { grant_types: ['client_credentials'], secret: 'made over REST' };

  it('Retain: a client goes on with its secret and its tokens when its object goes, and nobody owns it', async () => {
    await pass(kept);
    const token = await tokenOf('app');
    expect(await rest('PUT', '/Client/app', foreign)).to.equal(409);
    await pass();
    expect(rig.source.gone).to.deep.equal(['Client/app']);
    expect(await isLive(token)).to.equal(true);
    expect(await rig.token('app')).to.equal(200);
    expect(await rest('PUT', '/Client/app', { grant_types: ['client_credentials'], name: 'mine now' })).to.equal(200);
    expect(await rig.token('app')).to.equal(200);
  });

  it('Retain: neither a sweep nor a restart takes the client or its secret away', async () => {
    await pass(kept);
    await pass();
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await sweep();
    expect(await rig.token('app')).to.equal(200);
    await rig.restart();
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await sweep();
    expect(await rig.token('app')).to.equal(200);
  });

  it('Retain: also when the object went while nobody watched', async () => {
    await pass(kept);
    await rig.restart();
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await sweep();
    expect(await rig.token('app')).to.equal(200);
    expect(await rest('DELETE', '/Client/app')).to.equal(200);
  });

  it('F-13 Retain: lets go of the secret before the row loses its owner, so that a crash in between costs nothing', async () => {
    for (const restarts of [false, true]) {
      await pass(kept);
      if (restarts) await rig.restart();
      const sent: number[] = [];
      const released = rig.keeper.release.bind(rig.keeper);
      rig.keeper.release = (...given) => {
        sent.push(rig.calls.flat().filter((line) => 'delete' in line).length);
        return released(...given);
      };
      const before = rig.calls.flat().filter((line) => 'delete' in line).length;
      await sweep();
      rig.keeper.release = released;
      expect(sent).to.deep.equal([before]);
      expect(rig.keeper.released.has('app')).to.equal(true);
      expect(await rest('DELETE', '/Client/app')).to.equal(200);
      rig.keeper.released.clear();
    }
  });

  it('Retain: said by an edit, it counts from then on', async () => {
    await pass(machineClient('app'));
    await pass({ ...kept, resourceVersion: '2', generation: 2 });
    await pass();
    expect(await rig.token('app')).to.equal(200);
  });

  it('Retain taken back: the client goes with its object', async () => {
    await pass(kept);
    await pass({ ...machineClient('app'), resourceVersion: '2', generation: 2 });
    const secret = secretOf('app');
    await pass();
    expect(await rig.token('app', secret)).to.equal(401);
    expect(rig.keeper.kept.has('app')).to.equal(false);
  });

  it('Retain: a policy goes on granting', async () => {
    const policy = declared('AccessPolicy', 'for-app', {
      engine: 'allow',
      link: [{ resourceType: 'Client', id: 'app' }],
      deletionPolicy: 'Retain',
    });
    const app = machineClient('app');
    await pass(app, policy);
    await pass(app);
    const headers = { Authorization: `Bearer ${await tokenOf('app')}` };
    expect((await fetch(`${api.url}/boxes/${box}/Session`, { headers })).status).to.equal(200);
    expect(await rest('DELETE', '/AccessPolicy/for-app')).to.equal(200);
    expect((await fetch(`${api.url}/boxes/${box}/Session`, { headers })).status).to.equal(403);
  });

  it('Never: what was made over REST or retained is left alone, and the status says who has it', async () => {
    await pass();
    expect(await rest('PUT', '/Client/app', foreign)).to.equal(201);
    await pass(machineClient('app'));
    expect(rig.condition('Client/app')).to.equal('False/OwnedByAnother');
    expect(rig.source.statuses.get('Client/app')?.conditions[0]?.message).to.contain(
      'no object declares it: it was created over REST, or retained; spec.adoption: IfUnowned takes it over',
    );
    expect(await rig.token('app', 'made over REST')).to.equal(200);
    await pass();
    expect(await rig.token('app', 'made over REST')).to.equal(200);
  });

  it('IfUnowned: takes a policy that was made over REST', async () => {
    await pass();
    expect(await rest('PUT', '/AccessPolicy/readers', { engine: 'allow', subjects: 'anyone' })).to.equal(201);
    const readers = { engine: 'allow', subjects: 'authenticated' };
    await pass(declared('AccessPolicy', 'readers', readers));
    expect(rig.condition('AccessPolicy/readers')).to.equal('False/OwnedByAnother');
    const adopting = declared('AccessPolicy', 'readers', { ...readers, adoption: 'IfUnowned' });
    await pass({ ...adopting, resourceVersion: '2', generation: 2 });
    expect(rig.condition('AccessPolicy/readers')).to.equal('True/Ready');
    expect((await fetch(`${api.url}/boxes/${box}/Session`)).status).to.equal(401);
    expect(await rest('DELETE', '/AccessPolicy/readers')).to.equal(409);
  });

  for (const adoption of ['IfUnowned', 'Force']) {
    it(`${adoption}: takes what was made over REST, whose sessions are revoked`, async () => {
      await pass();
      expect(await rest('PUT', '/Client/app', foreign)).to.equal(201);
      const token = await tokenOf('app', 'made over REST');
      await pass(machineClient('app', { adoption }));
      expect(rig.condition('Client/app')).to.equal('True/Ready');
      expect(await isLive(token)).to.equal(false);
      expect(await rig.token('app', 'made over REST')).to.equal(401);
      expect(await rig.token('app')).to.equal(200);
      expect(await rest('PUT', '/Client/app', foreign)).to.equal(409);
      await pass();
      expect(await rest('GET', '/Client/app')).to.equal(404);
    });

    it(`${adoption}: does so in a sweep too, and after the object was refused`, async () => {
      await pass();
      await rest('PUT', '/Client/app', foreign);
      await sweep(machineClient('app'));
      expect(rig.condition('Client/app')).to.equal('False/OwnedByAnother');
      await pass({ ...machineClient('app', { adoption }), resourceVersion: '2', generation: 2 });
      expect(rig.condition('Client/app')).to.equal('True/Ready');
      await rig.restart();
      await sweep(machineClient('app', { adoption }));
      expect(rig.condition('Client/app')).to.equal('True/Ready');
    });

    it(`P-15 ${adoption}: takes nothing from an object that lives`, async () => {
      await pass(machineClient('app'));
      const younger = machineClient('another', { id: 'app', adoption });
      await pass(machineClient('app'), { ...younger, created: '9' });
      expect(rig.condition('Client/another')).to.equal('False/DeclaredTwice');
      expect(rig.condition('Client/app')).to.equal('True/Ready');
      expect(await rig.token('app')).to.equal(200);
    });
  }

  describe('P-15 Force', () => {
    const heir = machineClient('another', { id: 'app', adoption: 'Force' });

    for (const [title, before] of [
      ['an object that is gone', machineClient('app')],
      ['an object that is gone and was to be retained', kept],
    ] as const) {
      it(`takes the row of ${title}, in one call, and its sessions end`, async () => {
        await pass(before);
        const token = await tokenOf('app');
        rig.calls.length = 0;
        await pass(heir);
        const changing = rig.calls.filter((lines) => lines.some((line) => 'delete' in line || 'resource' in line));
        expect(changing.map((lines) => lines.length)).to.deep.equal([2]);
        expect(rig.condition('Client/another')).to.equal('True/Ready');
        expect(await isLive(token)).to.equal(false);
        expect(await rig.token('app', secretOf('another'))).to.equal(200);
        await pass();
        expect(await rest('GET', '/Client/app')).to.equal(404);
      });
    }

    it('takes nothing from an object that lives, though nobody has heard of it lately', async () => {
      await pass(machineClient('app'));
      const [secret, token, version] = [secretOf('app'), await tokenOf('app'), await rig.version()];
      rig.source.hidden = [machineClient('app')];
      for (let time = 0; time < 2; time += 1) await sweep(heir);
      expect(rig.condition('Client/another')).to.match(/^False/);
      expect(await isLive(token)).to.equal(true);
      expect(await rig.token('app', secret)).to.equal(200);
      expect(await rig.version()).to.equal(version);
    });

    it('takes nothing of another installation: its objects live, for all that we know', async () => {
      await pass();
      const elsewhere = await declaredBox(api, box, 'another-installation');
      expect(await elsewhere.verdicts([elsewhere.client('app', 'theirs')])).to.equal('created');
      await sweep(heir);
      expect(rig.condition('Client/another')).to.equal('False/OwnedByAnother');
      expect(await rig.token('app', 'theirs')).to.equal(200);
    });
  });

  it('C-10 an object created again under the old name has none of the sessions of the old one, nor its refresh tokens', async () => {
    const refreshing = { auth: { client_credentials: { refresh_token: true } } };
    await pass(machineClient('app', refreshing));
    const asked = { grant_type: 'client_credentials', client_id: 'app', client_secret: secretOf('app') };
    const got = await post('/auth/token', asked);
    // Nobody saw it go: the object of that name has another uid now.
    await pass({ ...machineClient('app', refreshing), uid: 'younger' });
    expect(rig.condition('Client/app')).to.equal('True/Ready');
    expect(await isLive(String(got['access_token']))).to.equal(false);
    const refresh = { grant_type: 'refresh_token', client_id: 'app', refresh_token: got['refresh_token'] };
    expect((await post('/auth/token', refresh))['error']).to.equal('invalid_grant');
    expect(await rig.token('app')).to.equal(200);
  });

  describe('a Box whose deletionPolicy is Delete', () => {
    const settings = (spec: object) => declared('Box', 'box', { tokens: { default_lifetime: 3600 }, ...spec });

    it('takes the data of its box with it: sessions, and what was made over REST; what is declared is created again', async () => {
      await pass(settings({ deletionPolicy: 'Delete' }), machineClient('app'));
      expect(await rest('PUT', '/Client/made', foreign)).to.equal(201);
      const tokens = [await tokenOf('app'), await tokenOf('made', 'made over REST')];
      await pass(machineClient('app'));
      expect(await Promise.all(tokens.map(isLive))).to.deep.equal([false, false]);
      expect(await rest('GET', '/Client/made')).to.equal(404);
      expect(await rig.token('app')).to.equal(200);
      expect(rig.condition('Client/app')).to.equal('True/Ready');
      // A box goes once: the same Box created again has no old data to take.
      const token = await tokenOf('app');
      await pass(settings({}), machineClient('app'));
      expect(await isLive(token)).to.equal(true);
    });

    it('leaves all there while it lives, and when it was edited to Retain before it went', async () => {
      await pass(settings({ deletionPolicy: 'Delete' }), machineClient('app'));
      const token = await tokenOf('app');
      await sweep(settings({ deletionPolicy: 'Delete' }), machineClient('app'));
      expect(await isLive(token)).to.equal(true);
      await pass({ ...settings({}), resourceVersion: '2', generation: 2 }, machineClient('app'));
      await pass(machineClient('app'));
      expect(await isLive(token)).to.equal(true);
    });
  });

  it('a retained client that is adopted again has its secret, and goes with its object from then on', async () => {
    await pass(kept);
    const secret = secretOf('app');
    await pass();
    await sweep(machineClient('app', { adoption: 'IfUnowned' }));
    expect(rig.condition('Client/app')).to.equal('True/Ready');
    expect(await rig.token('app', secret)).to.equal(200);
    await pass();
    expect(await rig.token('app', secret)).to.equal(401);
    expect(rig.keeper.kept.has('app')).to.equal(false);
  });
});
