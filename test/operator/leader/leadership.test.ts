import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import pg from 'pg';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import type { Environment } from '../../../program/environment.ts';
import { forEachConcurrently } from '../../../operator/kube/client/kube-object.ts';
import { eventually } from '../../support/eventually.ts';
import { startFaultProxy, type FaultProxy } from '../../support/fault-proxy.ts';
import { operatorNamespace, type OperatorProcess } from '../../support/operator-process.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

const leasePath = `/apis/coordination.k8s.io/v1/namespaces/${operatorNamespace}/leases/boxgate-operator`;
/** Changes amid which a leader is killed; `make faults` makes a thousand. */
const changes = Number(process.env['BOXGATE_CHANGES'] ?? 200);
/** A generated secret: no API has to compute a password hash of it, hundreds of times in one test. */
const client = { grant_types: ['client_credentials'], secret: generateClientSecret() };
/** Settings of tests that wait for the Lease to expire: a replica leads for six seconds after its last renewal. */
const brief = { BOXGATE_LEASE_SECONDS: '9' };

describe('one of several operators leads', () => {
  let rig: OperatorRig;
  let proxy: FaultProxy | undefined;
  let running: OperatorProcess[];
  let environment: Environment;
  before(async () => {
    rig = await startOperatorRig();
  });
  after(async () => {
    await rig.stop();
  });
  beforeEach(() => {
    running = [];
    environment = {};
  });
  afterEach(async () => {
    for (const operator of running) operator.signal('SIGCONT');
    await Promise.all(running.map((operator) => operator.end('SIGKILL')));
    await rig.plane.call({ method: 'DELETE', path: leasePath });
    await proxy?.close();
    proxy = undefined;
  });

  async function start(own: Environment = {}): Promise<OperatorProcess> {
    const operator = await rig.operatorProcess({ ...environment, ...own });
    running.push(operator);
    return operator;
  }

  const leads = ({ lines }: OperatorProcess): boolean => lines.some((line) => line.includes('this replica leads'));

  /** A leader, and another one that has seen who leads. */
  async function two(ofFirst: Environment = {}): Promise<[OperatorProcess, OperatorProcess]> {
    const first = await start(ofFirst);
    await eventually('the first leads', () => leads(first));
    const second = await start();
    await eventually('the second knows who leads', async () => (await fetch(`${second.healthUrl}/readyz`)).ok);
    return [first, second];
  }

  /** Returns the time of a replica's log line. */
  function saidAt({ lines }: OperatorProcess, what: string): number {
    const line = lines.find((one) => one.includes(what)) ?? expect.fail(`it never said ${what}`);
    return Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? '');
  }

  async function lease(): Promise<{ metadata: object; spec: object }> {
    const { body } = await rig.plane.call({ path: leasePath });
    const { metadata, spec } = isObject(body) ? body : {};
    if (!isObject(metadata) || !isObject(spec)) throw new Error('there is no Lease');
    return { metadata, spec };
  }

  async function makesLive(box: string, name: string): Promise<void> {
    await rig.put('Client', box, name, client);
    await rig.ready('Client', box, name, 60_000);
    expect(await rig.token(box, name, client.secret)).to.equal(200);
  }

  it('F-14: a leader that was frozen ends when it thaws, and writes nothing over what the next one wrote', async () => {
    environment = brief;
    const box = await rig.box();
    const [first, second] = await two();
    await makesLive(box, 'before');
    first.signal('SIGSTOP');
    await rig.put('Client', box, 'frozen', client);
    await eventually('the second leads', () => leads(second));
    await rig.ready('Client', box, 'frozen', 60_000);
    await rig.put('Client', box, 'frozen', { ...client, active: false });
    await rig.ready('Client', box, 'frozen', 60_000);
    const written = await rig.find('Client', box, 'frozen');
    first.signal('SIGCONT');
    expect(await first.ended).to.equal(1);
    expect(first.lines.join()).to.contain('leads no more');
    expect(await rig.find('Client', box, 'frozen')).to.deep.equal(written);
    expect(await rig.token(box, 'frozen', client.secret)).to.equal(401);
    await makesLive(box, 'after');
  });

  it('F-14: a leader whose Lease was deleted creates it again and goes on', async () => {
    const box = await rig.box();
    const [first, second] = await two();
    await rig.plane.call({ method: 'DELETE', path: leasePath });
    await eventually('there is a Lease again', async () => isObject((await lease()).spec));
    await makesLive(box, 'app');
    expect([leads(first), leads(second)]).to.deep.equal([true, false]);
  });

  it('F-14: a leader whose Lease was given to somebody else ends, and another one follows', async () => {
    environment = brief;
    const box = await rig.box();
    const [first, second] = await two();
    const { metadata, spec } = await lease();
    const body = { metadata: { name: 'boxgate-operator' }, spec: { ...spec, holderIdentity: 'somebody' } };
    const contentType = 'application/merge-patch+json';
    await rig.plane.call({ method: 'PATCH', path: leasePath, body, contentType });
    expect(metadata).to.have.property('resourceVersion');
    expect(await first.ended).to.equal(1);
    await eventually('the second leads', () => leads(second));
    await makesLive(box, 'app');
  });

  it('F-14: a leader that is cut off from the API server alone ends, before another one leads', async () => {
    environment = brief;
    const box = await rig.box();
    proxy = await startFaultProxy(Number(new URL(rig.plane.url).port));
    const [first, second] = await two({ KUBERNETES_SERVICE_PORT: String(proxy.port) });
    await makesLive(box, 'before');
    await proxy.close();
    expect(await first.ended).to.equal(1);
    await eventually('the second leads', () => leads(second));
    expect(first.lines.join()).to.contain('leads no more');
    expect(saidAt(first, '"msg":"stopping"')).to.be.below(saidAt(second, '"msg":"this replica leads"'));
    await makesLive(box, 'after');
  });

  it('peer defect 4, F-32: a leader that is asked to end lets the next one lead within its looks', async () => {
    const box = await rig.box();
    const [first, second] = await two();
    expect(await first.end('SIGTERM')).to.equal(0);
    await eventually('the second leads', () => leads(second));
    await makesLive(box, 'app');
  });

  it('It must show 4, I9: a leader that is killed amid many changes leaves the right state to the next one', async () => {
    const boxes = await Promise.all(Array.from({ length: 5 }, () => rig.box()));
    const [first, second] = await two();
    const names = Array.from({ length: changes / boxes.length }, (_, n) => `app-${String(n)}`);
    const writes = boxes.flatMap((box) => names.map((name) => ({ box, name })));
    const each = writes.values();
    let done = 0;
    const lane = async (): Promise<void> => {
      for (const { box, name } of each) {
        await rig.put('Client', box, name, client);
        done += 1;
        if (done === writes.length / 2) first.signal('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    expect(await first.ended).to.equal('SIGKILL');
    await eventually('the second leads', () => leads(second), 60_000);
    await eventually('every row is there', async () => (await rows(boxes)) === writes.length, 120_000);
    await forEachConcurrently(writes, ({ box, name }) => rig.ready('Client', box, name, 120_000));
    expect(await rig.token(boxes.at(-1) ?? '', names.at(-1) ?? '', client.secret)).to.equal(200);
  });

  async function rows(boxes: readonly string[]): Promise<number> {
    const owner = new pg.Client({ connectionString: rig.database.ownerUrl });
    await owner.connect();
    try {
      const sql = 'SELECT count(*)::integer AS count FROM boxgate.resource WHERE box = ANY($1)';
      const { rows: found } = await owner.query<{ count: number }>(sql, [boxes]);
      return found[0]?.count ?? 0;
    } finally {
      await owner.end();
    }
  }
});
