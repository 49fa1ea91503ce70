import { expect } from 'chai';
import { kubectl } from '../../../support/cluster/install-crds.ts';
import { eventually } from '../../../support/eventually.ts';
import { eachInCluster, machine, type SourceRig } from '../source-rig.ts';

describe('a cluster as a source', () => {
  let rig: SourceRig;
  eachInCluster((made) => (rig = made));

  it('makes a client of an applied object, says Ready, and ends it with the object', async () => {
    await rig.start();
    await rig.put('Client', 'app', machine('s3cret-of-app'));
    await rig.ready('Client', 'app');
    expect(await rig.token('app', 's3cret-of-app')).to.equal(200);
    expect((await rig.find('Client', 'app')).status).to.deep.include({
      observedGeneration: 1,
      id: 'app',
      grants: 'client_credentials',
      secret: 'inline',
      policies: 0,
    });
    await rig.put('Client', 'app', machine('another-secret'));
    await eventually('the new secret works', async () => (await rig.token('app', 'another-secret')) === 200);
    expect(await rig.token('app', 's3cret-of-app')).to.equal(401);
    await rig.plane.call({ method: 'DELETE', path: rig.at('Client', 'app') });
    await eventually('it is refused', async () => (await rig.token('app', 'another-secret')) === 401);
    expect(rig.failures).to.deep.equal([]);
  });

  it('shows what people look at: columns, policies that link clients, the box', async () => {
    await rig.put('AccessPolicy', 'readers', { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] });
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.put('Box', 'box', {});
    await rig.start();
    for (const [kind, name] of [
      ['Client', 'app'],
      ['AccessPolicy', 'readers'],
      ['Box', 'box'],
    ] as const) {
      await rig.ready(kind, name);
    }
    const text = await kubectl(rig.plane, 'get', 'clients,accesspolicies,boxes', '--namespace', rig.box);
    expect(text).to.match(/client\.boxgate\.dev\/app +app +client_credentials +inline +1 +True/);
    expect(text).to.match(/accesspolicy\.boxgate\.dev\/readers +allow +1 +True/);
    expect(text).to.match(/box\.boxgate\.dev\/box +http\S+ +1 +1 +0 +home +True/);
    const headings = async (kinds: string, ...more: readonly string[]): Promise<string[]> => {
      const printed = await kubectl(rig.plane, 'get', kinds, '--namespace', rig.box, ...more);
      return (printed.split('\n')[0] ?? '').trim().split(/ +/);
    };
    const client = ['NAME', 'ID', 'GRANTS', 'SECRET', 'POLICIES', 'READY', 'REASON', 'AGE'];
    expect(await headings('clients')).to.deep.equal(client);
    expect(await headings('clients', '-o', 'wide')).to.deep.equal([...client, 'LAST-TOKEN', 'SESSIONS']);
    expect(await headings('accesspolicies')).to.deep.equal(['NAME', 'ENGINE', 'SUBJECTS', 'READY', 'REASON', 'AGE']);
    expect(await headings('boxes')).to.deep.equal([
      'NAME',
      'ISSUER',
      'CLIENTS',
      'POLICIES',
      'USERS',
      'DATABASE',
      'READY',
      'REASON',
      'AGE',
    ]);
    expect(await kubectl(rig.plane, 'wait', '--for=condition=Ready', 'client/app', '--namespace', rig.box)).to.contain(
      'met',
    );
  });

  it('R-27: shows beside READY False why it is so', async () => {
    await rig.put('AccessPolicy', 'broken', { engine: 'cel', expression: 'uri ==' });
    await rig.start();
    await eventually('kubectl shows the reason', async () => {
      const text = await kubectl(rig.plane, 'get', 'accesspolicies', '--namespace', rig.box);
      return /broken +cel .*False +Invalid +\d+s/.test(text);
    });
  });

  it('says Valid=False of what no definition can refuse, and grants nothing', async () => {
    await rig.start();
    await rig.put('AccessPolicy', 'broken', { engine: 'cel', expression: 'uri ==' });
    await eventually(
      'it says so',
      async () => (await rig.condition('AccessPolicy', 'broken', 'Valid')) === 'False/Invalid',
    );
    expect(await rig.condition('AccessPolicy', 'broken')).to.equal('False/Invalid');
  });
});
