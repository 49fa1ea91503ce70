import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import type { Kind } from '../../../crds/kind.ts';
import { kubectl } from '../../support/cluster/install-crds.ts';
import { eventually } from '../../support/eventually.ts';
import { startLoggedProcess } from '../../support/logged-process.ts';
import { environmentOf, type TestOperator } from '../../support/operator-process.ts';
import { startProcessRig, type ProcessRig } from '../operator-rig.ts';

/** It lets go of a deletion soon where the API is away; one that was killed is followed at once. */
const impatient = { BOXGATE_HOLD_SECONDS: '4', BOXGATE_POD_UID: 'one-pod' };
const FINALIZER = 'boxgate.dev/finalizer';
const secret = 's3cret-of-the-app';
const machine = { grant_types: ['client_credentials'], secret };

describe('deletion, by the operator in a cluster', () => {
  let rig: ProcessRig;
  let operator: TestOperator;
  let box: string;
  before(async () => {
    rig = await startProcessRig();
    rig.plane.startControllers(['namespace']);
    operator = await rig.operator({ BOXGATE_POD_UID: 'one-pod' });
  });
  after(() => rig.stop());
  beforeEach(async () => {
    box = await rig.box();
  });

  const metadataOf = async (kind: Kind, name: string): Promise<Readonly<Record<string, unknown>>> => {
    const { metadata } = (await rig.find(kind, box, name)) ?? {};
    return isObject(metadata) ? metadata : {};
  };
  const finalizersOf = async (kind: Kind, name: string): Promise<unknown> =>
    (await metadataOf(kind, name))['finalizers'];
  const isGone = async (path: string): Promise<boolean> => (await rig.plane.call({ path })).status === 404;
  const namespacePath = (): string => `/api/v1/namespaces/${box}`;
  const deleteNamespace = () => rig.plane.call({ method: 'DELETE', path: namespacePath() });
  const namespaceIsGone = (): Promise<void> =>
    eventually('the namespace is gone', () => isGone(namespacePath()), 120_000);
  /** First the row of each object goes, and then the box is out of service: its namespace is not there. */
  const isRefused = (id: string): Promise<void> =>
    eventually(`${id} is refused`, async () => [401, 404].includes(await rig.token(box, id, secret)));
  const isOutOfService = (): Promise<void> =>
    eventually('the box is out of service', async () => (await rig.token(box, 'app', secret)) === 404);

  async function applied(...names: readonly string[]): Promise<void> {
    for (const name of names) await rig.put('Client', box, name, machine);
    for (const name of names) await rig.ready('Client', box, name, 60_000);
  }

  it('I10: kubectl delete returns when the client can no longer get a token', async () => {
    await applied('app');
    expect(await rig.token(box, 'app', secret)).to.equal(200);
    await kubectl(rig.plane, 'delete', 'client', 'app', '--namespace', box);
    expect(await rig.token(box, 'app', secret)).to.equal(401);
  });

  it('C-10: a client created again under the old name has none of the tokens of the old one', async () => {
    await applied('app', 'looker');
    const ask = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
      const answer = await fetch(`${rig.api.url}/boxes/${box}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ client_secret: secret, ...body }),
      });
      const found: unknown = await answer.json();
      return isObject(found) ? found : {};
    };
    const { access_token: token } = await ask('/auth/token', { grant_type: 'client_credentials', client_id: 'app' });
    expect(await ask('/auth/introspect', { client_id: 'looker', token })).to.include({ active: true });
    await kubectl(rig.plane, 'delete', 'client', 'app', '--namespace', box);
    await applied('app');
    expect(await ask('/auth/introspect', { client_id: 'looker', token })).to.deep.equal({ active: false });
    expect(await rig.token(box, 'app', secret)).to.equal(200);
  });

  it('Ready implies the finalizer, on every kind; one that is taken away comes back', async () => {
    const path = `/apis/boxgate.dev/v1/namespaces/${box}/clients`;
    const { body: before } = await rig.plane.call({ path });
    const { resourceVersion: since } = isObject(before) && isObject(before['metadata']) ? before['metadata'] : {};
    await applied('app');
    await rig.put('AccessPolicy', box, 'all', { engine: 'allow', subjects: 'authenticated' });
    await rig.put('Box', box, 'box', {});
    await rig.ready('AccessPolicy', box, 'all');
    await rig.ready('Box', box, 'box');
    for (const [kind, name] of [
      ['AccessPolicy', 'all'],
      ['Box', 'box'],
    ] as const) {
      expect(await finalizersOf(kind, name)).to.deep.equal([FINALIZER]);
    }
    const watch = `${path}?watch=true&resourceVersion=${String(since)}&timeoutSeconds=2`;
    const events = String((await rig.plane.call({ path: watch })).body)
      .trim()
      .split('\n');
    const ready = events.filter(
      (event) => event.includes('"type":"Ready"') && event.includes('"status":"True","type":"Ready"'),
    );
    expect(ready).to.have.length.above(0);
    expect(ready.filter((event) => !event.includes(FINALIZER))).to.deep.equal([]);
    await rig.plane.call({
      method: 'PATCH',
      path: `${path}/app`,
      body: { metadata: { finalizers: null } },
      contentType: 'application/merge-patch+json',
    });
    await eventually('it is held again', async () => String(await finalizersOf('Client', 'app')) === FINALIZER);
  });

  it('peer defect 5: of what people wrote nothing changes, and the finalizers of others stay', async () => {
    const own = { labels: { team: 'shop' }, annotations: { note: 'ours' }, finalizers: ['example.com/hold'] };
    await rig.put('Client', box, 'app', machine, own);
    await rig.ready('Client', box, 'app');
    const { labels, annotations, finalizers } = await metadataOf('Client', 'app');
    expect({ labels, annotations }).to.deep.equal({ labels: own.labels, annotations: own.annotations });
    expect(finalizers).to.deep.equal(['example.com/hold', FINALIZER]);
    expect((await rig.find('Client', box, 'app'))?.['spec']).to.deep.equal(machine);
    await rig.remove('Client', box, 'app');
    await eventually('ours is gone', async () => String(await finalizersOf('Client', 'app')) === 'example.com/hold');
    expect(await rig.token(box, 'app', secret)).to.equal(401);
  });

  it('an object that never had a row goes at once', async () => {
    await rig.put('Client', box, 'waiting', {
      grant_types: ['client_credentials'],
      secretRef: { name: 'x', key: 'y' },
    });
    await eventually('it waits', async () => (await rig.condition('Client', box, 'waiting')).startsWith('False/'));
    expect(await finalizersOf('Client', 'waiting')).to.equal(undefined);
  });

  for (const first of ['nothing', 'secrets', 'the RoleBinding'] as const) {
    it(`F-21: a namespace with objects goes, ${first} being gone first`, async () => {
      await applied('app', 'other');
      await rig.put('Client', box, 'generated', { grant_types: ['client_credentials'] });
      await rig.put('AccessPolicy', box, 'all', { engine: 'allow', subjects: 'authenticated' });
      await rig.ready('AccessPolicy', box, 'all');
      if (first === 'secrets') await rig.plane.call({ method: 'DELETE', path: `${namespacePath()}/secrets` });
      if (first === 'the RoleBinding') {
        const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${box}/rolebindings`;
        await rig.plane.call({ method: 'DELETE', path });
      }
      await deleteNamespace();
      await namespaceIsGone();
      expect([401, 404]).to.include(await rig.token(box, 'app', secret));
      await isOutOfService();
    });
  }

  it('F-20, peer defect 7: while the API is away objects and their namespace go, and its return ends the rows', async () => {
    const names = ['one', 'two', 'three'];
    await operator.stop();
    operator = await rig.operator(impatient);
    await applied(...names);
    const kept = box;
    await rig.api.end('SIGKILL');
    await rig.remove('Client', kept, 'one');
    await eventually('an event says what that means', async () => {
      const { body } = await rig.plane.call({ path: `/apis/events.k8s.io/v1/namespaces/${kept}/events` });
      return JSON.stringify(body).includes('RowRemains');
    });
    await deleteNamespace();
    await namespaceIsGone();
    expect(operator.lines.join('\n')).to.contain('RowRemains');
    await rig.restartApi();
    const back = performance.now();
    for (const name of names) await isRefused(name);
    await isOutOfService();
    process.stdout.write(
      `      refused ${String(Math.round(performance.now() - back))} ms after the API listened again\n`,
    );
  });

  it('R-24 says within seconds what a deletion waits for, and on the Box that the API does not answer, until it does', async () => {
    await rig.put('Box', box, 'box', {});
    await applied('app');
    await rig.ready('Box', box, 'box');
    await rig.api.end('SIGKILL');
    // Nothing has changed that the API would have to be told.
    await eventually('the Box says so', async () => (await rig.condition('Box', box, 'box')) === 'False/Unavailable');
    await rig.remove('Client', box, 'app');
    const said = () => rig.condition('Client', box, 'app');
    await eventually('the object says so', async () => (await said()) === 'False/DeletionWaits');
    await eventually('an event says so', async () => {
      const { body } = await rig.plane.call({ path: `/apis/events.k8s.io/v1/namespaces/${box}/events` });
      return JSON.stringify(body).includes('the deletion waits for the API, which does not answer');
    });
    await rig.restartApi();
    await eventually('the object is gone', async () => (await rig.find('Client', box, 'app')) === undefined);
    await isRefused('app');
    await rig.ready('Box', box, 'box');
  });

  it('uninstalling takes every finalizer off, and leaves those of others', async () => {
    await applied('app');
    await rig.put('Client', box, 'other', machine, { finalizers: ['example.com/hold'] });
    await rig.ready('Client', box, 'other');
    await operator.stop();
    const { ended } = await startLoggedProcess(
      ['operator/main.ts', 'operator', '--release-finalizers'],
      environmentOf(rig.account.access),
      (line) => /^released \d+ objects?$/.exec(line)?.[0],
    );
    expect(await ended).to.equal(0);
    expect(await finalizersOf('Client', 'app')).to.equal(undefined);
    expect(await finalizersOf('Client', 'other')).to.deep.equal(['example.com/hold']);
    expect(await rig.token(box, 'app', secret)).to.equal(200);
    operator = await rig.operator({ BOXGATE_POD_UID: 'one-pod' });
    await eventually('it is held again', async () => String(await finalizersOf('Client', 'app')) === FINALIZER);
  });

  it('F-20: also when the operator began while the API was away', async () => {
    await applied('app');
    await rig.api.end('SIGKILL');
    await operator.stop();
    await deleteNamespace();
    operator = await rig.operator(impatient);
    await namespaceIsGone();
    await rig.restartApi();
    await isRefused('app');
    await isOutOfService();
  });
});
