import { expect } from 'chai';
import { KubeError } from '../../../../operator/kube/client/kube-error.ts';
import { eventually } from '../../../support/eventually.ts';
import { eachInCluster, machine, type SourceRig } from '../source-rig.ts';

describe('what is gone from a cluster', () => {
  let rig: SourceRig;
  eachInCluster((made) => (rig = made));

  it('F-10: removes nothing that a live look does not confirm, and looks again', async () => {
    await rig.start();
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.ready('Client', 'app');
    await rig.allow('declared', 'list', 'watch');
    await rig.plane.call({ method: 'DELETE', path: rig.at('Client', 'app') });
    await eventually('the look is refused', () => rig.failures.length > 0);
    expect(String(rig.failures[0])).to.contain('cannot get resource "clients"');
    expect(await rig.token('app', 's3cret')).to.equal(200);
    await rig.allow('declared', 'get', 'list', 'watch');
    await rig.sweep();
    await eventually('it is refused', async () => (await rig.token('app', 's3cret')) === 401);
  });

  it('looks again soon where a live look got no answer', async () => {
    await rig.start();
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.ready('Client', 'app');
    let left = 2;
    rig.meanwhile = async ({ method, path }) => {
      if (method !== 'GET' || path !== rig.at('Client', 'app') || left === 0) return;
      left -= 1;
      throw new KubeError('unavailable', 'the cluster is away');
    };
    await rig.plane.call({ method: 'DELETE', path: rig.at('Client', 'app') });
    await eventually('it is refused', async () => (await rig.token('app', 's3cret')) === 401);
    expect(left).to.equal(0);
    // an object may have a megabyte, and the look needs its uid.
    const looks = rig.calls.filter(({ method, path }) => method === 'GET' && path === rig.at('Client', 'app'));
    for (const look of looks) expect(look).to.have.property('metadataOnly', true);
    expect(looks).to.have.length.above(0);
  });

  it('takes an object that somebody still holds back for gone once its deletion was asked for', async () => {
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.merge('Client', 'app', { metadata: { finalizers: ['example.com/hold'] } });
    await rig.start();
    await rig.ready('Client', 'app');
    await rig.plane.call({ method: 'DELETE', path: rig.at('Client', 'app') });
    await eventually('it is refused', async () => (await rig.token('app', 's3cret')) === 401);
    await rig.merge('Client', 'app', { metadata: { finalizers: [] } });
  });
});
