import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { annotate, issuerAt } from './host-requests.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

const kept = { grant_types: ['client_credentials'], secret: 's3cret', deletionPolicy: 'Retain' };
/** One that was killed is followed at once. */
const onePod = { BOXGATE_POD_UID: 'one-pod' };

describe('R-51 a namespace that is deleted', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    rig.plane.startControllers(['namespace']);
  });
  after(() => rig.stop());

  const path = (box: string): string => `/api/v1/namespaces/${box}`;

  async function tenant(host: string): Promise<string> {
    const box = await rig.box();
    await annotate(rig, box, { 'boxgate.dev/hosts': host });
    await rig.put('Client', box, 'kept', kept);
    await rig.put('Box', box, 'box', { hosts: [host] });
    for (const [kind, name] of [
      ['Client', 'kept'],
      ['Box', 'box'],
    ] as const)
      await rig.ready(kind, box, name);
    expect(await rig.token(box, 'kept', kept.secret)).to.equal(200);
    return box;
  }

  async function uidOf(box: string): Promise<string> {
    const { body } = await rig.plane.call({ path: path(box) });
    return isObject(body) && isObject(body['metadata']) ? String(body['metadata']['uid']) : '';
  }

  async function remove(box: string): Promise<void> {
    await rig.plane.call({ method: 'DELETE', path: path(box) });
    await eventually('it is gone', async () => (await rig.plane.call({ path: path(box) })).status === 404);
  }

  const isUnknown = (box: string): Promise<void> =>
    eventually('the box is unknown', async () => (await rig.token(box, 'kept', kept.secret)) === 404);

  it('takes its box out of service, with what it retains, until an admin adopts that', async () => {
    const operator = await rig.operator(onePod);
    const box = await tenant('deleted.test');
    const old = await uidOf(box);
    await remove(box);
    await isUnknown(box);
    expect(await issuerAt(rig, 'deleted.test')).to.equal('404');
    const next = await rig.box();
    await annotate(rig, next, { 'boxgate.dev/hosts': 'deleted.test' });
    await rig.put('Box', next, 'box', { hosts: ['deleted.test'] });
    await rig.ready('Box', next, 'box');
    await rig.plane.call({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: box } } });
    await annotate(rig, box, { 'boxgate.dev/adopt-uid': old });
    await rig.put('Client', box, 'stranger', kept);
    await rig.ready('Client', box, 'stranger');
    expect(await rig.token(box, 'kept', kept.secret)).to.equal(200);
    await operator.stop();
  });

  it('takes its box out of service also when no operator was there to see it', async () => {
    const operator = await rig.operator(onePod);
    const box = await tenant('unseen.test');
    await operator.stop();
    await rig.plane.call({ method: 'DELETE', path: path(box) });
    for (const [plural, name] of [
      ['clients', 'kept'],
      ['boxes', 'box'],
    ]) {
      await rig.plane.call({
        method: 'PATCH',
        path: `/apis/boxgate.dev/v1/namespaces/${box}/${String(plural)}/${String(name)}`,
        body: { metadata: { finalizers: null } },
        contentType: 'application/merge-patch+json',
      });
    }
    await eventually('it is gone', async () => (await rig.plane.call({ path: path(box) })).status === 404);
    expect(await rig.token(box, 'kept', kept.secret)).to.equal(200);
    await rig.operator(onePod);
    await isUnknown(box);
    expect(await issuerAt(rig, 'unseen.test')).to.equal('404');
  });
});
