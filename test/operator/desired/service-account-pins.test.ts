import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { proof } from '../../oauth/assertions.ts';
import { basic, sendForm, type Reply } from '../../oauth/requests.ts';
import { startApiProcess, type ApiProcess } from '../../support/api-process.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestOperator } from '../../support/operator-process.ts';
import { unthrottled } from '../../support/unthrottled.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

describe('boxgate operator, for the ServiceAccounts that clients are pinned to', () => {
  let rig: OperatorRig;
  let replica: ApiProcess;
  let operator: TestOperator;
  let box: string;
  before(async () => {
    rig = await startOperatorRig();
    replica = await startApiProcess(rig.database.apiUrl, unthrottled);
    operator = await rig.operator();
    box = await rig.box();
    await rig.put('Client', box, 'watcher', { grant_types: [], secret: 'secret-of-the-watcher' });
    await rig.ready('Client', box, 'watcher');
  });
  after(async () => {
    await replica.end('SIGKILL');
    await rig.stop();
  });

  const accounts = (namespace: string, name = '') =>
    `/api/v1/namespaces/${namespace}/serviceaccounts${name === '' ? '' : `/${name}`}`;
  const spec = (entry: object) => ({ grant_types: ['client_credentials'], service_accounts: [entry] });

  /** Creates a ServiceAccount; its uid. */
  async function create(name: string, namespace = box): Promise<string> {
    const { body } = await rig.plane.call({ method: 'POST', path: accounts(namespace), body: { metadata: { name } } });
    return isObject(body) && isObject(body['metadata']) ? String(body['metadata']['uid']) : '';
  }

  async function remove(name: string): Promise<void> {
    await rig.plane.call({ method: 'DELETE', path: accounts(box, name) });
  }

  /** Requests a token as the kubelet does for a pod with a projected token. */
  async function mint(name: string): Promise<string> {
    const found: unknown = await (await fetch(`${rig.api.url}/boxes/${box}/.well-known/openid-configuration`)).json();
    const audiences = [isObject(found) ? found['issuer'] : undefined];
    const path = `${accounts(box, name)}/token`;
    const { body } = await rig.plane.call({ method: 'POST', path, body: { spec: { audiences } } });
    return isObject(body) && isObject(body['status']) ? String(body['status']['token']) : '';
  }

  function exchange(token: string, id: string, url = rig.api.url): Promise<Reply> {
    const fields = { grant_type: 'client_credentials', client_id: id, ...proof(token) };
    return sendForm(`${url}/boxes/${box}/auth/token`, fields);
  }

  async function isActive(token: string, url: string): Promise<boolean> {
    const header = basic('watcher', 'secret-of-the-watcher');
    return (await sendForm(`${url}/boxes/${box}/auth/introspect`, { token }, header)).body['active'] === true;
  }

  async function status(name: string): Promise<Record<string, unknown>> {
    const found = (await rig.find('Client', box, name))?.['status'];
    return isObject(found) ? found : {};
  }

  const urls = (): readonly string[] => [rig.api.url, replica.url];

  /** A Client that a ServiceAccount of its own has authenticated. */
  async function begin(name: string): Promise<{ uid: string; token: string; access: string }> {
    const uid = await create(name);
    await rig.put('Client', box, name, spec({ namespace: box, name }));
    await rig.ready('Client', box, name);
    const token = await mint(name);
    const { body } = await exchange(token, name);
    return { uid, token, access: String(body['access_token']) };
  }

  /** Checks whether a Client is not Ready in its present generation, and why. */
  const isSaid = (name: string, expected: string) => async (): Promise<boolean> => {
    const { metadata, status: found } = (await rig.find('Client', box, name)) ?? {};
    const conditions =
      isObject(found) && Array.isArray(found['conditions']) ? found['conditions'].filter(isObject) : [];
    const ready = conditions.find(({ type }) => type === 'Ready') ?? {};
    const isPresent = isObject(metadata) && metadata['generation'] === ready['observedGeneration'];
    return isPresent && ready['status'] === 'False' && ready['reason'] === expected;
  };

  it('R-54: a deleted ServiceAccount takes its tokens with it, on every replica, and the Client and an Event say so', async () => {
    const { token, access, uid } = await begin('deleted');
    for (const url of urls()) expect(await isActive(access, url)).to.equal(true);
    await remove('deleted');
    for (const url of urls()) {
      await eventually('its access token is revoked', async () => !(await isActive(access, url)));
      const { status: code, body } = await exchange(token, 'deleted', url);
      expect([code, body['error_description']]).to.deep.equal([
        401,
        'This ServiceAccount was deleted: its tokens do not count',
      ]);
    }
    await eventually('the Client says so', isSaid('deleted', 'ServiceAccountDeleted'));
    expect(JSON.stringify(await status('deleted'))).to.contain(
      `ServiceAccount ${box}/deleted (uid ${uid}) was deleted`,
    );
    await eventually('an Event says so', async () => (await eventsOf('deleted')).includes('ServiceAccountDeleted'));
  });

  async function eventsOf(name: string): Promise<readonly unknown[]> {
    const { body } = await rig.plane.call({ path: `/apis/events.k8s.io/v1/namespaces/${box}/events` });
    const items = isObject(body) && Array.isArray(body['items']) ? body['items'].filter(isObject) : [];
    return items
      .filter(({ regarding }) => isObject(regarding) && regarding['name'] === name)
      .map(({ reason }) => reason);
  }

  it('R-54: the status shows the pin; one that was created again is accepted by its uid in the Client, at once', async () => {
    const { uid } = await begin('again');
    const isPinned = async (by: string): Promise<boolean> =>
      JSON.stringify((await status('again'))['serviceAccounts']) ===
      JSON.stringify([{ name: 'again', namespace: box, uid: by }]);
    // The operator asks for pins when it sweeps, and with each change in the box.
    await rig.put('Client', box, 'watcher', { grant_types: [], secret: 'secret-of-the-watcher', name: 'Watcher' });
    await eventually('the status shows the pin', () => isPinned(uid));

    await remove('again');
    const other = await create('again');
    await eventually('the Client says so', isSaid('again', 'ServiceAccountRecreated'));
    await eventually('an Event says so', async () => (await eventsOf('again')).includes('ServiceAccountRecreated'));
    const token = await mint('again');
    for (const url of urls()) expect((await exchange(token, 'again', url)).status).to.equal(401);

    expect(JSON.stringify(await status('again'))).to.contain(`kubectl patch client again -n ${box} --type=json -p`);
    await rig.put('Client', box, 'again', spec({ namespace: box, name: 'again', uid: other }));
    await rig.ready('Client', box, 'again');
    for (const url of urls()) expect((await exchange(token, 'again', url)).status).to.equal(200);
    await eventually('the status shows the new pin', () => isPinned(other));

    // The pin stays when the Client names it no longer.
    await rig.put('Client', box, 'again', spec({ namespace: box, name: 'again' }));
    await rig.ready('Client', box, 'again');
    for (const url of urls()) expect((await exchange(token, 'again', url)).status).to.equal(200);
  });

  it('R-54: a uid in the Client is the pin from the beginning', async () => {
    const uid = await create('declared');
    await rig.put('Client', box, 'declared', spec({ namespace: box, name: 'declared', uid: 'another-uid' }));
    await eventually('the Client says so', isSaid('declared', 'ServiceAccountRecreated'));
    await eventually('an Event says so', async () => (await eventsOf('declared')).includes('ServiceAccountRecreated'));
    expect(JSON.stringify(await status('declared'))).to.contain('kubectl patch client declared');
    const token = await mint('declared');
    for (const url of urls()) expect((await exchange(token, 'declared', url)).status).to.equal(401);
    await rig.put('Client', box, 'declared', spec({ namespace: box, name: 'declared', uid }));
    await rig.ready('Client', box, 'declared');
    for (const url of urls()) expect((await exchange(token, 'declared', url)).status).to.equal(200);
  });

  it('R-54: a uid in the Client of which there never was a ServiceAccount is told, until the entry has the right one', async () => {
    await rig.put('Client', box, 'nobody', spec({ namespace: box, name: 'nobody', uid: 'uid-of-nobody' }));
    await eventually('the Client says so', isSaid('nobody', 'ServiceAccountDeleted'));
    await eventually('an Event says so', async () => (await eventsOf('nobody')).includes('ServiceAccountDeleted'));
    expect(JSON.stringify(await status('nobody'))).to.contain(`ServiceAccount ${box}/nobody (uid uid-of-nobody)`);

    const uid = await create('nobody');
    await rig.put('Client', box, 'nobody', spec({ namespace: box, name: 'nobody', uid }));
    await rig.ready('Client', box, 'nobody');
    const token = await mint('nobody');
    for (const url of urls()) expect((await exchange(token, 'nobody', url)).status).to.equal(200);
  });

  it('R-54: a named ServiceAccount that is deleted before its first token gets none, on any replica', async () => {
    const uid = await create('early');
    const token = await mint('early');
    await rig.put('Client', box, 'early', spec({ namespace: box, name: 'early', uid }));
    await rig.ready('Client', box, 'early');
    await remove('early');
    await eventually('the Client says so', isSaid('early', 'ServiceAccountDeleted'));
    for (const url of urls()) {
      const { status: code, body } = await exchange(token, 'early', url);
      expect([code, body['error_description']]).to.deep.equal([
        401,
        'This ServiceAccount was deleted: its tokens do not count',
      ]);
    }
    expect(await isSaid('early', 'ServiceAccountDeleted')()).to.equal(true);
  });

  it('R-54: of a ServiceAccount in a foreign namespace a Client hears only that the one it names is not there', async () => {
    const foreign = await rig.box();
    const uid = await create('foreign', foreign);
    for (const name of ['foreign', 'absent']) {
      const id = `of-${name}`;
      await rig.put('Client', box, id, spec({ namespace: foreign, name, uid: 'a-guess' }));
      await eventually('the Client says so', isSaid(id, 'ServiceAccountDeleted'));
      expect(JSON.stringify(await status(id))).not.to.contain(uid);
      // The pin stays without the uid in the entry.
      await rig.put('Client', box, id, spec({ namespace: foreign, name }));
      await eventually('the Client says so', isSaid(id, 'ServiceAccountDeleted'));
      expect(JSON.stringify(await status(id))).not.to.contain(uid);
    }
    await rig.put('Client', box, 'of-foreign', spec({ namespace: foreign, name: 'foreign', uid }));
    await rig.ready('Client', box, 'of-foreign');
  });

  it('R-54: what happened while no operator was running is found when one starts', async () => {
    const { access } = await begin('unwatched');
    await operator.stop();
    await remove('unwatched');
    operator = await rig.operator();
    await eventually('its access token is revoked', async () => !(await isActive(access, rig.api.url)), 60_000);
  });
});
