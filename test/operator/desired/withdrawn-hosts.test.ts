import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import pg from 'pg';
import { applyCrds } from '../../support/cluster/install-crds.ts';
import { eventually } from '../../support/eventually.ts';
import { acceptAnySpec } from '../kube/source/any-definition.ts';
import { annotate, issuerAt, tokenAt } from './host-requests.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

const machine = { grant_types: ['client_credentials'] };
const merge = 'application/merge-patch+json';

describe('a host that an admin withdraws', () => {
  let rig: OperatorRig;
  let owner: pg.Pool;
  /** Path of a Box whose finalizers nobody can take off as it is. */
  let unparsable = '';
  before(async () => {
    rig = await startOperatorRig();
    owner = new pg.Pool({ connectionString: rig.database.ownerUrl, max: 1 });
    await rig.operator();
    rig.plane.startControllers(['namespace']);
  });
  after(async () => {
    await owner.end();
    const body = { spec: { hosts: null, signing: null } };
    await rig.plane.call({ method: 'PATCH', path: unparsable, body, contentType: merge });
    await rig.stop();
  });

  const secretOf = (box: string): string => `secret-of-${box}`;

  /** A box with a client of its own, whose Box has a host that its namespace grants, and the issuer on it. */
  async function tenant(host: string, isGranted: boolean): Promise<string> {
    const box = await rig.box();
    if (isGranted) await annotate(rig, box, { 'boxgate.dev/hosts': host });
    await rig.put('Client', box, 'app', { ...machine, secret: secretOf(box), deletionPolicy: 'Retain' });
    await rig.put('Box', box, 'box', { hosts: [host], issuer: `https://${host}` });
    await rig.ready('Client', box, 'app');
    return box;
  }

  /** Returns the hosts and the issuer in the row of a box. */
  async function rowOf(box: string): Promise<string> {
    const { rows } = await owner.query<{ said: string | null }>(
      `SELECT concat(body -> 'hosts', body -> 'issuer') AS said FROM boxgate.resource WHERE box = $1 AND kind = 'Box'`,
      [box],
    );
    return rows.map(({ said }) => said ?? '').join();
  }

  const uidOf = async (path: string): Promise<string> => {
    const { body } = await rig.plane.call({ path });
    return isObject(body) && isObject(body['metadata']) ? String(body['metadata']['uid']) : '';
  };

  /** Attempts of the tenant to keep the host; each resolves after the operator has processed it. */
  const tricks: Readonly<Record<string, (box: string, host: string) => Promise<void>>> = {
    async nothing() {
      await Promise.resolve();
    },
    async suspended(box, host) {
      await rig.put('Box', box, 'box', { hosts: [host], issuer: `https://${host}`, suspend: true });
      await eventually('it is suspended', async () => (await rig.condition('Box', box, 'box')).endsWith('/Suspended'));
    },
    async 'refused by the API'(box, host) {
      const spec = { hosts: [host], issuer: `https://${host}`, revoke_sessions_before: '2999-01-01T00:00:00Z' };
      await rig.put('Box', box, 'box', spec);
      await eventually('it is invalid', async () => (await rig.condition('Box', box, 'box')) === 'False/Invalid');
    },
    async unparsable(box) {
      await acceptAnySpec(rig.plane, 'Box');
      const path = `/apis/boxgate.dev/v1/namespaces/${box}/boxes/box`;
      await eventually('anything is taken', async () => {
        const body = { spec: { hosts: 7, issuer: null, signing: 'none' } };
        return (await rig.plane.call({ method: 'PATCH', path, body, contentType: merge })).status === 200;
      });
      await eventually('it is invalid', async () => (await rig.condition('Box', box, 'box')) === 'False/Invalid');
      await applyCrds(rig.plane);
      unparsable = path;
    },
    async terminating(box) {
      const path = `/apis/boxgate.dev/v1/namespaces/${box}/boxes/box`;
      const finalizers = ['boxgate.dev/finalizer', 'tenant.example/stays'];
      await rig.plane.call({ method: 'PATCH', path, body: { metadata: { finalizers } }, contentType: merge });
      await rig.remove('Box', box, 'box');
    },
    async locked(box, host) {
      const path = `/api/v1/namespaces/${box}`;
      const old = await uidOf(path);
      await rig.plane.call({ method: 'DELETE', path });
      await eventually('it is gone', async () => (await rig.plane.call({ path })).status === 404);
      await rig.plane.call({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: box } } });
      expect(await uidOf(path)).not.to.equal(old);
      await annotate(rig, box, { 'boxgate.dev/hosts': host });
      await rig.put('Box', box, 'box', { hosts: [host], issuer: `https://${host}` });
      await eventually('it is locked', async () => (await rig.condition('Box', box, 'box')).includes('Recreated'));
    },
  };

  for (const [name, trick] of Object.entries(tricks)) {
    it(`R-B2 leads to the next box and never to the first again, whose Box is: ${name}`, async () => {
      const host = `moved-${name.replaceAll(' ', '-').toLowerCase()}.test`;
      const issuer = `https://${host}`;
      const first = await tenant(host, true);
      await rig.ready('Box', first, 'box');
      expect(await tokenAt(rig, host, 'app', secretOf(first))).to.equal(200);
      await trick(first, host);

      const next = await tenant(host, false);
      await eventually('it is not granted', async () => {
        return (await rig.condition('Box', next, 'box')) === 'False/HostNotGranted';
      });
      expect(await tokenAt(rig, host, 'app', secretOf(next))).not.to.equal(200);
      await annotate(rig, first, { 'boxgate.dev/hosts': null });
      await annotate(rig, next, { 'boxgate.dev/hosts': host });
      await rig.ready('Box', next, 'box');

      // From the moment at which the next Box is Ready.
      expect(await issuerAt(rig, host)).to.equal(issuer);
      expect(await tokenAt(rig, host, 'app', secretOf(next)), 'of the next one').to.equal(200);
      expect(await tokenAt(rig, host, 'app', secretOf(first)), 'of the first one').to.equal(401);
      const left = await issuerAt(rig, 'auth.test', `/boxes/${first}`);
      expect(left, 'the first one signs as itself').not.to.equal(issuer);
      expect(await rowOf(first)).not.to.contain(host);
    });
  }

  it('R-B2 is restored as it was declared, once it is granted again and the Box is resumed', async () => {
    const host = 'back.test';
    const spec = { hosts: [host], issuer: `https://${host}` };
    const box = await tenant(host, true);
    await rig.ready('Box', box, 'box');
    await rig.put('Box', box, 'box', { ...spec, suspend: true });
    await annotate(rig, box, { 'boxgate.dev/hosts': null });
    await eventually('it leads nowhere', async () => (await issuerAt(rig, host)) === '404');
    await annotate(rig, box, { 'boxgate.dev/hosts': host });
    await rig.put('Box', box, 'box', spec);
    await rig.ready('Box', box, 'box');
    expect(await issuerAt(rig, host)).to.equal(`https://${host}`);
  });
});
