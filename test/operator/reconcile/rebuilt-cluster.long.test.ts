import { expect } from 'chai';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { eventually } from '../../support/eventually.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { label, testSecrets } from '../kube/secrets/secret-things.ts';
import type { TestSecrets } from '../kube/secrets/secret-things.ts';
import { startProcessRig } from '../operator-rig.ts';
import type { ProcessRig } from '../operator-rig.ts';

const machine = { grant_types: ['client_credentials'], rotation: { every: '720h', overlap: '2h' } };

/** Objects that come back with other uids, over the rows of those that were there before. */
describe('objects that are created again while no operator runs', () => {
  let rig: ProcessRig;
  let box = '';
  let secrets: TestSecrets;
  let former = '';
  let token = '';
  let running: OperatorProcess;
  let cluster = '';
  let nth = 0;

  before(async () => {
    rig = await startProcessRig();
  });
  after(() => rig.stop());

  beforeEach(async () => {
    nth += 1;
    cluster = `former-${String(nth)}`;
    running = await rig.operatorProcess({ BOXGATE_CLUSTER_ID: cluster });
    box = await rig.box();
    secrets = testSecrets(rig.plane, box);
    await rig.put('Client', box, 'app', machine);
    await rig.put('AccessPolicy', box, 'app', { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] });
    for (const kind of ['Client', 'AccessPolicy'] as const) await rig.ready(kind, box, 'app');
    former = await valueOf('app');
    token = await tokenBy(former);
    await running.end('SIGTERM');
    for (const kind of ['Client', 'AccessPolicy'] as const) await letGo(kind);
  });
  afterEach(async () => {
    await running.end('SIGTERM');
    for (const kind of ['Client', 'AccessPolicy'] as const) await letGo(kind);
  });

  const valueOf = async (name: string): Promise<string> => (await secrets.find(name))?.data['client_secret'] ?? '';

  async function tokenBy(secret: string): Promise<string> {
    const response = await fetch(`${rig.api.url}/boxes/${box}/auth/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ grant_type: 'client_credentials', client_id: 'app', client_secret: secret }),
      signal: AbortSignal.timeout(60_000),
    });
    const answer: unknown = await response.json();
    return String(Reflect.get(Object(answer), 'access_token'));
  }

  async function statusOf(text: string): Promise<number> {
    const asked = { headers: { Authorization: `Bearer ${text}` }, signal: AbortSignal.timeout(60_000) };
    return (await fetch(`${rig.api.url}/boxes/${box}/Client/app`, asked)).status;
  }

  /** As `boxgate operator --release-finalizers` and `kubectl delete` do. */
  async function letGo(kind: 'Client' | 'AccessPolicy'): Promise<void> {
    const plural = kind === 'Client' ? 'clients' : 'accesspolicies';
    const path = `/apis/boxgate.dev/v1/namespaces/${box}/${plural}/app`;
    const body = { metadata: { finalizers: null } };
    await rig.plane.call({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    await rig.remove(kind, box, 'app');
    await eventually(`${kind} is gone`, async () => (await rig.find(kind, box, 'app')) === undefined);
  }

  /** The objects, and an operator that may adopt the rows of the former cluster. */
  async function comeBack(environment: Readonly<Record<string, string>>): Promise<void> {
    await rig.put('Client', box, 'app', machine);
    await rig.put('AccessPolicy', box, 'app', { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] });
    running = await rig.operatorProcess(environment);
    for (const kind of ['Client', 'AccessPolicy'] as const) await rig.ready(kind, box, 'app');
  }

  const adopting = (): Record<string, string> => ({
    BOXGATE_CLUSTER_ID: `rebuilt-${String(nth)}`,
    BOXGATE_ADOPT_CLUSTER: cluster,
  });

  it('R-57: keep the secret beside a new one for the overlap, and every token, in a cluster that adopts theirs', async () => {
    await secrets.remove('app');
    await comeBack(adopting());
    const now = await valueOf('app');
    expect(now).not.to.equal(former);
    expect([await rig.token(box, 'app', now), await rig.token(box, 'app', former)]).to.deep.equal([200, 200]);
    expect(await statusOf(token)).to.equal(200);
    const until = Date.parse(String((await secrets.find('app'))?.annotations['boxgate.dev/previous-until']));
    expect(until - Date.now()).to.be.within(60 * 60_000, 2 * 3_600_000);
  });

  it('R-57: keep the Secret that is still there, or restored, in a cluster that adopts theirs', async () => {
    await comeBack(adopting());
    const found = await secrets.find('app');
    expect(found?.data['client_secret']).to.equal(former);
    const uid = String(Reflect.get(Object((await rig.find('Client', box, 'app'))?.['metadata']), 'uid'));
    expect(found?.owners.map((owner) => owner['uid'])).to.deep.equal([uid]);
    expect([await rig.token(box, 'app', former), await statusOf(token)]).to.deep.equal([200, 200]);
  });

  it('R-57: take a Secret from an older backup, and keep the secret of the row for the overlap', async () => {
    const { annotations = {}, labels = {} } = (await secrets.find('app')) ?? {};
    await secrets.remove('app');
    const older = generateClientSecret();
    const restored = { metadata: { name: 'app', labels: { ...labels, ...label }, annotations }, type: 'Opaque' };
    await secrets.make('app', { client_secret: older }, restored);
    await comeBack(adopting());
    const now = await valueOf('app');
    expect(now).to.equal(older);
    expect([await rig.token(box, 'app', now), await rig.token(box, 'app', former)]).to.deep.equal([200, 200]);
    expect(await statusOf(token)).to.equal(200);
  });

  it('R-57: are new clients in the same cluster: their tokens and their generated secrets are of nobody', async () => {
    await secrets.remove('app');
    await comeBack({ BOXGATE_CLUSTER_ID: cluster });
    const now = await valueOf('app');
    expect([await rig.token(box, 'app', now), await rig.token(box, 'app', former)]).to.deep.equal([200, 401]);
    expect(await statusOf(token)).to.equal(401);
  });

  it('R-57: a Client that is new in a cluster that adopts another has no secret of an earlier one', async () => {
    await comeBack(adopting());
    await rig.put('Client', box, 'new', machine);
    await rig.ready('Client', box, 'new');
    expect((await secrets.find('new'))?.annotations).not.to.have.property('boxgate.dev/previous-until');
  });
});
