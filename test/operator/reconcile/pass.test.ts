import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { ManagementError } from '../../../api/client/management-error.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts';
import { allowPolicy, declared, edited, machineClient } from '../declare.ts';
import { eachInBox, passRig, type PassRig } from '../pass-rig.ts';

describe('reconcileBox against a real API', () => {
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  const app = machineClient('app');
  const policy = allowPolicy('allow-app', 'app');

  it('makes a client with a generated secret that gets a token, and a policy that concerns it', async () => {
    await rig.pass([app, policy]);
    expect(rig.condition('Client/app')).to.equal('True/Ready');
    expect(rig.condition('Client/app', 'Granted')).to.equal('True/PolicyLinked');
    expect(rig.condition('AccessPolicy/allow-app')).to.equal('True/Ready');
    expect(rig.condition('AccessPolicy/allow-app', 'LinksResolved')).to.equal('True/AllFound');
    expect(await rig.token('app')).to.equal(200);
    expect(await rig.token('app', 'another')).to.equal(401);
  });

  it('comes to the same end in whatever order objects appear', async () => {
    await rig.pass([policy]);
    expect(rig.condition('AccessPolicy/allow-app', 'LinksResolved')).to.equal('False/DanglingLinks');
    expect(rig.condition('AccessPolicy/allow-app')).to.equal('True/Ready');
    await rig.pass([app, policy]);
    expect(rig.condition('AccessPolicy/allow-app', 'LinksResolved')).to.equal('True/AllFound');
    expect(rig.condition('Client/app', 'Granted')).to.equal('True/PolicyLinked');
    await rig.pass([app]);
    expect(rig.condition('Client/app', 'Granted')).to.equal('False/NoPolicy');
  });

  it('finds the clients that a policy links and others have made', async () => {
    await rig.api.declare(rig.box, [
      { kind: 'Client', id: 'foreign', grant_types: ['client_credentials'], secret: 'x' },
    ]);
    await rig.pass([allowPolicy('p', 'foreign', 'nobody')]);
    const status = rig.source.statuses.get('AccessPolicy/p');
    expect(status?.conditions.find(({ type }) => type === 'LinksResolved'))
      .to.include({ status: 'False' })
      .and.to.have.property('message')
      .that.contains('not there: Client/nobody');
    expect(status?.columns).to.deep.include({ resolvedLinks: ['Client/foreign'], danglingLinks: ['Client/nobody'] });
  });

  it('R-20 finds the groups, by id and by name, and the users that a policy links; the next sweep finds what is new', async () => {
    const admin = { kind: 'Client', id: 'admin', grant_types: ['client_credentials'], secret: 'x' } as const;
    const link = [{ resourceType: 'Client', id: 'admin' }];
    await rig.api.declare(rig.box, [admin, { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link }]);
    const base = `${rig.api.url}/boxes/${rig.box}`;
    const send = async (path: string, body: object, token = ''): Promise<JsonObject> => {
      const headers = {
        'Content-Type': 'application/json',
        ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
      };
      const answer = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(answer.ok, path).to.equal(true);
      const made: unknown = await answer.json();
      return isObject(made) ? made : {};
    };
    const asked = { grant_type: 'client_credentials', client_id: 'admin', client_secret: 'x' };
    const token = String((await send('/auth/token', asked))['access_token']);
    const group = String((await send('/Group', { name: 'staff' }, token))['id']);
    const user = String((await send('/users', { email: 'ann@example.com', password: 'a long password' }, token))['id']);
    const there = [`Group/staff`, `Group/${group}`, `User/${user}`];
    const links = [...there, 'Group/later', 'Group/99', 'User/99', 'User/999999999999999'];
    const policyOfPeople = declared('AccessPolicy', 'p', {
      engine: 'allow',
      link: links.map((reference) => ({ reference })),
    });
    await rig.pass([policyOfPeople]);
    const columns = () => rig.source.statuses.get('AccessPolicy/p')?.columns;
    expect(columns()).to.deep.include({ resolvedLinks: there, danglingLinks: links.slice(3) });
    await send('/Group', { name: 'later' }, token);
    await rig.pass([policyOfPeople], 'everything');
    expect(columns()).to.deep.include({ resolvedLinks: links.slice(0, 4), danglingLinks: links.slice(4) });
  });

  it('R-26 says that a client has no policy only where its own tokens could have one', async () => {
    const gateway = declared('Client', 'gateway', { grant_types: ['client_credentials'] });
    const site = declared('Client', 'site', {
      grant_types: ['authorization_code'],
      redirect_uris: ['https://site.example/back'],
    });
    await rig.pass([gateway, site]);
    const said = rig.source.statuses.get('Client/gateway')?.conditions.find(({ type }) => type === 'Granted');
    expect(said).to.include({ status: 'False', reason: 'NoPolicy' });
    expect(said?.message)
      .to.contain('the endpoints of the box refuse its own tokens')
      .and.contain('If it should call them');
    expect(rig.condition('Client/gateway')).to.equal('True/Ready');
    expect(rig.condition('Client/site', 'Granted')).to.equal(undefined);
  });

  it('sends nothing and publishes nothing when nothing changed', async () => {
    await rig.pass([app, policy]);
    const { published } = rig.source;
    rig.calls.length = 0;
    await rig.pass([app, policy]);
    expect(rig.calls).to.deep.equal([]);
    expect(rig.source.published).to.equal(published);
  });

  it('R-23 says of a suspended client that its secret is not looked at, and its Secret works', async () => {
    await rig.pass([app, policy]);
    const suspended = edited(app, { grant_types: ['client_credentials'], suspend: true });
    for (const scope of ['changes', 'everything'] as const) {
      await rig.pass([suspended, policy], scope);
      expect(rig.condition('Client/app')).to.equal('Unknown/Suspended');
      expect(rig.condition('Client/app', 'SecretReady')).to.equal('Unknown/Suspended');
      expect(await rig.token('app')).to.equal(200);
    }
    await rig.pass([app, policy]);
    expect(rig.condition('Client/app', 'SecretReady')).to.equal('True/SecretGenerated');
  });

  it('compares digests in a sweep and writes nothing when all is as it should be', async () => {
    await rig.pass([app, policy]);
    const before = await rig.version();
    const { published } = rig.source;
    rig.calls.length = 0;
    await rig.pass([app, policy], 'everything');
    expect(rig.calls.map((lines) => lines.map((line) => 'resource' in line))).to.deep.equal([[false, false]]);
    expect(await rig.version()).to.equal(before);
    expect(rig.source.published).to.equal(published);
  });

  it('applies nothing again after a restart', async () => {
    await rig.pass([app, policy]);
    const before = await rig.version();
    await rig.restart();
    await rig.pass([app, policy], 'everything');
    expect(await rig.version()).to.equal(before);
    expect(rig.condition('Client/app')).to.equal('True/Ready');
  });

  it('sends the one client that changed among a thousand, and looks at no other secret', async () => {
    const many = Array.from({ length: 1_000 }, (_, nth) => machineClient(`c${String(nth)}`));
    await rig.pass(many);
    const { published } = rig.source;
    const { looks } = rig.keeper;
    rig.calls.length = 0;
    const spec = { grant_types: ['client_credentials'], name: 'Another name' };
    await rig.pass(many.map((one) => (one.name === 'c777' ? edited(one, spec) : one)));
    expect(rig.calls.map((lines) => lines.map((line) => line.id))).to.deep.equal([['c777']]);
    expect(rig.source.published).to.equal(published + 1);
    expect(rig.keeper.looks).to.equal(looks + 1);
  });

  it('peer defect 2: removes exactly the one of a thousand clients that is gone, and its generated secret', async () => {
    const many = Array.from({ length: 1_000 }, (_, nth) => machineClient(`c${String(nth)}`));
    await rig.pass(many);
    const secret = rig.keeper.kept.get('c777')?.value.reveal() ?? '';
    await rig.pass(many.filter(({ name }) => name !== 'c777'));
    expect(await rig.token('c777', secret)).to.equal(401);
    expect(await Promise.all(['c0', 'c776', 'c778', 'c999'].map((id) => rig.token(id)))).to.deep.equal([
      200, 200, 200, 200,
    ]);
    expect(rig.source.gone).to.deep.equal(['Client/c777']);
    expect(rig.keeper.kept.has('c777')).to.equal(false);
  });

  it('F-10 removes nothing that a live look still finds', async () => {
    await rig.pass([app]);
    rig.source.hidden = [app];
    await rig.pass([]);
    expect(await rig.token('app')).to.equal(200);
    expect(rig.keeper.kept.has('app')).to.equal(true);
    rig.source.hidden = [];
    await rig.pass([]);
    expect(await rig.token('app', 'whatever')).to.equal(401);
  });

  it('removes nothing while something cannot be read, also after a restart', async () => {
    await rig.pass([app]);
    rig.source.complete = false;
    await rig.pass([]);
    await rig.restart();
    await rig.pass([], 'everything');
    expect(await rig.token('app')).to.equal(200);
    rig.source.complete = true;
    await rig.pass([]);
    expect(await rig.token('app')).to.equal(401);
  });

  it('leaves a client as it was when an edit breaks a rule, and says which', async () => {
    await rig.pass([app]);
    await rig.pass([edited(app, { grant_types: ['everything'] })]);
    expect(rig.condition('Client/app')).to.equal('False/Invalid');
    expect(rig.source.statuses.get('Client/app')?.faults.map(({ path }) => path)).to.deep.equal([
      'spec.grant_types[0]',
    ]);
    expect(await rig.token('app')).to.equal(200);
    expect(rig.keeper.kept.has('app')).to.equal(true);
  });

  it('says Valid=False of a policy whose rule cannot be used, also after a restart', async () => {
    const broken = declared('AccessPolicy', 'p', {
      engine: 'json-schema',
      schema: { constant: 1 },
      subjects: 'authenticated',
    });
    await rig.pass([app, broken]);
    expect(rig.condition('AccessPolicy/p', 'Valid')).to.equal('False/Invalid');
    expect(rig.condition('AccessPolicy/p')).to.equal('False/Invalid');
    expect(rig.condition('Client/app', 'Granted')).to.equal('False/NoPolicy');
    const before = await rig.version();
    await rig.restart();
    await rig.pass([app, broken], 'everything');
    expect(rig.condition('AccessPolicy/p', 'Valid')).to.equal('False/Invalid');
    expect(await rig.version()).to.equal(before);
  });

  it('leaves a suspended object as it is, of any kind', async () => {
    const box = declared('Box', 'box', {});
    await rig.pass([app, policy, box]);
    const before = await rig.version();
    await rig.pass([
      edited(app, { grant_types: ['client_credentials'], active: false, suspend: true }),
      edited(policy, { engine: 'allow', suspend: true }),
      edited(box, { active: false, suspend: true }),
    ]);
    for (const key of ['Client/app', `AccessPolicy/${policy.name}`, 'Box/box']) {
      expect(rig.condition(key), key).to.equal('Unknown/Suspended');
    }
    expect(await rig.token('app')).to.equal(200);
    expect(await rig.version()).to.equal(before);
  });

  it('I9 stops when somebody else has claimed a later epoch, and changes nothing any more', async () => {
    await rig.pass([app]);
    await rig.management.claimEpoch(`test-${rig.box}`, new AbortController().signal);
    const error: unknown = await rig.pass([]).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ManagementError).with.property('code', 'fenced');
    expect(await rig.token('app')).to.equal(200);
  });
});

describe('reconcileBox while the API is away', () => {
  let database: TestDatabase;
  const running: TestApi[] = [];
  const start = async (): Promise<TestApi> => {
    const api = await startApi({ database });
    running.push(api);
    return api;
  };

  before(async () => {
    database = await freshDatabase();
  });
  after(async () => {
    await Promise.all(running.map((api) => api.stop()));
    await database.drop();
  });

  it('is never Ready meanwhile, and applies what changed as soon as the API is back', async () => {
    const app = machineClient('app');
    const rig = await passRig(await start(), 'shop');
    await rig.pass([app]);
    await running.pop()?.stop();
    const error: unknown = await rig.pass([app, machineClient('new')]).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ManagementError).with.property('code', 'unavailable');
    expect(rig.condition('Client/new')).to.equal('False/Unavailable');
    expect(rig.condition('Client/app')).to.equal('True/Ready');
    expect(rig.cache.stored.certainty).to.equal('doubtful');

    const again = await passRig(await start(), 'shop', rig);
    await again.pass([app, machineClient('new')]);
    expect(again.condition('Client/new')).to.equal('True/Ready');
    expect(await again.token('app')).to.equal(200);
    expect(again.calls.map((lines) => lines.map(({ id }) => id))).to.deep.equal([['app', 'new'], ['new']]);
  });
});
