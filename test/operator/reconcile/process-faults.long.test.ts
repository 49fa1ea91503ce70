import { isObject } from '../../../crds/path.ts';
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import type { Environment } from '../../../program/environment.ts';
import { startControlPlane, type ControlPlane } from '../../support/cluster/control-plane.ts';
import { kubectl } from '../../support/cluster/install-crds.ts';
import { eventually } from '../../support/eventually.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { operatorNamespace, type OperatorProcess } from '../../support/operator-process.ts';
import { startProcessRig, type ProcessRig } from '../operator-rig.ts';

const client = { grant_types: ['client_credentials'], secret: 'a-secret-of-the-app' };

describe('an operator whose surroundings fail', () => {
  let plane: ControlPlane;
  let rig: ProcessRig;
  let box: string;
  let operator: OperatorProcess;
  before(async () => {
    plane = await startControlPlane();
    rig = await startProcessRig(plane);
    box = await rig.box();
  });
  after(async () => {
    await rig.stop();
    await plane.stop();
  });
  afterEach(async () => {
    await operator.end('SIGKILL');
  });

  /** An operator that leads and has made a client live. It may lead on for as long as any API server takes to start. */
  async function start(environment: Environment = {}): Promise<void> {
    await kubectl(plane, '-n', operatorNamespace, 'delete', 'leases', '--all');
    operator = await rig.operatorProcess({ BOXGATE_LEASE_SECONDS: '120', ...environment });
    await makesLive('at-first');
  }

  async function makesLive(name: string): Promise<void> {
    await rig.put('Client', box, name, { ...client, description: String(Math.random()) });
    await rig.ready('Client', box, name, 60_000);
    expect(await rig.token(box, name, client.secret)).to.equal(200);
  }

  const ready = async (): Promise<number> => (await fetch(`${operator.healthUrl}/readyz`)).status;

  it('F-01: goes on when the API server was killed and is back, in the same process', async () => {
    await start();
    await plane.signal('SIGKILL');
    await plane.restart();
    await makesLive('after-a-kill');
    expect(operator.hasEnded()).to.equal(false);
  });

  it('F-01, F-02: ends when the API server is frozen for longer than it may lead; the next process waits for it', async () => {
    await start({ BOXGATE_LEASE_SECONDS: '5', BOXGATE_POD_UID: 'one-pod' });
    await plane.signal('SIGSTOP');
    try {
      expect(await operator.ended).to.equal(1);
      operator = await rig.operatorProcess({ BOXGATE_POD_UID: 'one-pod', BOXGATE_LEASE_SECONDS: '120' });
      expect(await ready()).to.equal(503);
    } finally {
      await plane.signal('SIGCONT');
    }
    await makesLive('after-a-freeze');
    await eventually('it is ready', async () => (await ready()) === 200);
  });

  const ways = {
    pod: () => ({}),
    kubeconfig: () => ({ KUBECONFIG: rig.account.kubeconfig }),
  } satisfies Record<string, () => Environment>;
  for (const [way, access] of Object.entries(ways)) {
    it(`F-12: goes on with the new token when the old one counts no more (${way})`, async () => {
      await start(access());
      const path = `/api/v1/namespaces/${operatorNamespace}/serviceaccounts`;
      await plane.call({ method: 'DELETE', path: `${path}/boxgate-operator` });
      await plane.call({ method: 'POST', path, body: { metadata: { name: 'boxgate-operator' } } });
      await writeFile(rig.account.tokenFile, await plane.token(operatorNamespace, 'boxgate-operator'));
      await makesLive('after-a-token');
      expect(operator.hasEnded()).to.equal(false);
    });

    it(`F-12: goes on when the API server has a certificate of another authority, once the file names that one (${way})`, async () => {
      await start(access());
      await plane.signal('SIGKILL');
      await plane.restart({ certificate: 'new' });
      await rig.put('Client', box, `rotation-${way}`, client);
      await eventually(
        'it is not trusted',
        () => operator.lines.some((line) => /self-signed|certificate/.test(line)),
        60_000,
      );
      expect(await rig.condition('Client', box, `rotation-${way}`)).not.to.equal('True/Ready');
      await copyFile(plane.certificate, rig.account.certificate);
      await rig.ready('Client', box, `rotation-${way}`, 60_000);
      expect(operator.hasEnded()).to.equal(false);
    });
  }

  it('F-12: waits for a file that its pod should have, and says which one it is', async () => {
    const { access, tokenFile } = await plane.accountFor(operatorNamespace, 'boxgate-operator');
    await rename(tokenFile, `${tokenFile}.away`);
    await kubectl(plane, '-n', operatorNamespace, 'delete', 'leases', '--all');
    operator = await rig.operatorProcess({ BOXGATE_SERVICE_ACCOUNT_FOLDER: access.accountFolder });
    await eventually('it says so', () => operator.lines.some((line) => line.includes(`${tokenFile} cannot be read`)));
    expect(await ready()).to.equal(503);
    await rename(`${tokenFile}.away`, tokenFile);
    await makesLive('after-a-file');
  });

  it('ends at once where its kubeconfig is not there', async () => {
    const started: unknown = await rig
      .operatorProcess({ KUBECONFIG: '/nowhere/kubeconfig' })
      .catch((error: unknown) => error);
    expect(String(started)).to.contain('ended at its start (1)').and.to.contain('/nowhere/kubeconfig');
  });

  it('F-12: waits while its rights are gone, and goes on when they are back', async () => {
    await start();
    await kubectl(plane, 'delete', 'clusterrolebinding', 'boxgate-operator');
    await rig.put('Client', box, 'without-rights', client);
    await eventually('it is refused', () => operator.lines.some((line) => line.includes('is forbidden')), 60_000);
    await kubectl(plane, 'apply', '-f', 'operator/rbac/');
    await rig.ready('Client', box, 'without-rights', 60_000);
    expect(operator.hasEnded()).to.equal(false);
  });

  it('tells an outage of the API once, in the namespace of the installation, and in the status of each Box', async () => {
    // E-30: one Unavailable for each Box for each outage, where nobody can help.
    const proxy = await startFaultProxy(Number(new URL(rig.api.managementUrl).port));
    try {
      await start({ BOXGATE_MANAGEMENT_URL: `http://127.0.0.1:${String(proxy.port)}` });
      const boxes = [box, await rig.box()];
      for (const one of boxes) await rig.put('Box', one, 'box', {});
      for (const one of boxes) await rig.ready('Box', one, 'box', 60_000);
      proxy.isClosed = true;
      proxy.cut();
      for (const one of boxes) {
        await eventually('it says so', async () => (await rig.condition('Box', one, 'box')) === 'False/Unavailable');
      }
      const events = () =>
        kubectl(
          plane,
          'get',
          'events',
          '-A',
          '--field-selector',
          'reason=Unavailable',
          '-o',
          'custom-columns=:.metadata.namespace,:.message',
          '--no-headers',
        );
      await eventually('an Event tells it', async () => (await events()).includes(operatorNamespace));
      expect(await events()).to.match(/^\S+ +the API cannot serve.*: the API cannot be reached: .*\n$/);
    } finally {
      await operator.end('SIGKILL');
      await proxy.close();
    }
  });

  it('F-32: asked to end amid many changes it releases the Lease and ends with 0; nothing of it is half done', async () => {
    await start();
    const names = Array.from({ length: 100 }, (_, n) => `many-${String(n)}`);
    await Promise.all(names.map((name) => rig.put('Client', box, name, client)));
    expect(await operator.end('SIGTERM')).to.equal(0);
    const path = `/apis/coordination.k8s.io/v1/namespaces/${operatorNamespace}/leases/boxgate-operator`;
    const { body } = await plane.call({ path });
    expect(isObject(body) ? body['spec'] : undefined).to.have.property('holderIdentity', '');
    operator = await rig.operatorProcess();
    for (const name of names) await rig.ready('Client', box, name, 60_000);
  });

  it('I6: writes nothing but its Lease while nothing changes, through many sweeps and lists', async () => {
    // How much a box is used is asked at a time of chance.
    await start({ BOXGATE_SWEEP_SECONDS: '1', BOXGATE_RELIST_SECONDS: '1', BOXGATE_USAGE_SECONDS: '86400' });
    await rig.put('AccessPolicy', box, 'policy', {
      engine: 'allow',
      link: [{ resourceType: 'Client', id: 'at-first' }],
    });
    await rig.ready('AccessPolicy', box, 'policy', 60_000);
    // Statuses that follow from the last change are written before it is quiet.
    await sweeps(3);
    // Events about it come one after the other.
    await eventually(
      'no Event is left to tell',
      async () => {
        const one = await written();
        await sweeps(1);
        return isDeepStrictEqual(await written(), one);
      },
      60_000,
    );
    const before = await written();
    await sweeps(8);
    expect(await written()).to.deep.equal(before);
  });

  /** Waits for so many more passes. */
  async function sweeps(count: number): Promise<void> {
    const from = (await numbers('boxgate_operator_pass_seconds_count')).reduce((sum, n) => sum + n, 0);
    await eventually(
      'there were passes',
      async () => (await numbers('boxgate_operator_pass_seconds_count')).reduce((sum, n) => sum + n, 0) >= from + count,
      60_000,
    );
  }

  async function numbers(name: string, having = ''): Promise<number[]> {
    const page = await (await fetch(`${operator.healthUrl}/metrics`)).text();
    const lines = page.split('\n').filter((line) => line.startsWith(name) && line.includes(having));
    return lines.map((line) => Number(line.split(' ').at(-1)));
  }

  /** Returns the traces of writes to the API server and to Postgres, without the Lease (its verb is PUT). */
  async function written(): Promise<unknown> {
    const requests = 'boxgate_operator_kubernetes_requests_total';
    const owner = new pg.Client({ connectionString: rig.database.ownerUrl });
    await owner.connect();
    try {
      return {
        patches: await numbers(requests, 'PATCH'),
        posts: await numbers(requests, 'POST'),
        deletes: await numbers(requests, 'DELETE'),
        objects: (await kubectl(plane, '-n', box, 'get', 'clients,accesspolicies,boxes', '-o', 'json')).length,
        boxes: (await owner.query('SELECT box, config_version, xmin::text FROM boxgate.box ORDER BY box')).rows,
        resources: (await owner.query('SELECT box, id, xmin::text FROM boxgate.resource ORDER BY box, id')).rows,
      };
    } finally {
      await owner.end();
    }
  }

  it('tells Prometheus how it is, and no log line holds a secret', async () => {
    await start();
    expect(await ready()).to.equal(200);
    expect((await fetch(`${operator.healthUrl}/healthz`)).status).to.equal(200);
    expect(await numbers('boxgate_operator_leader')).to.deep.equal([1]);
    expect(await numbers('boxgate_operator_queue_depth')).to.have.length(1);
    // A pass ends after the status that it writes.
    await eventually('a change is live', async () =>
      (await numbers('boxgate_operator_apply_to_live_seconds_count')).some((count) => count > 0),
    );
    expect(await numbers('boxgate_operator_kubernetes_requests_total', 'WATCH')).not.to.deep.equal([]);
    const said = operator.lines.join('\n');
    expect(said).not.to.contain(client.secret);
    expect(said).not.to.contain(await readFile(rig.account.tokenFile, 'utf8'));
    for (const line of operator.lines) expect(JSON.parse(line)).to.have.property('msg');
  });
});
