import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { kubectl } from '../../../support/cluster/install-crds.ts';
import { addUser } from '../../../http/pages/browser.ts';
import { eventually } from '../../../support/eventually.ts';
import { ownerQuery } from '../../../support/owner-query.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';

const policy = { engine: 'allow', link: [{ resourceType: 'Group', id: 'staff' }] };

/** Groups in a real cluster, with the operator as it runs there. */
describe('a Group in a cluster', () => {
  let rig: OperatorRig;
  let box = '';
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator({ BOXGATE_SWEEP_SECONDS: '1', BOXGATE_USAGE_SECONDS: '1' });
  });
  after(() => rig.stop());
  beforeEach(async () => {
    box = await rig.box({ secrets: false });
  });

  const names = async (): Promise<readonly unknown[]> => {
    const rows = await ownerQuery(rig, 'SELECT name, owner_name AS owner FROM boxgate.group WHERE box = $1', [box]);
    return rows.map(({ name, owner }) => `${String(name)} of ${String(owner)}`);
  };

  async function memberOf(name: string): Promise<void> {
    const user = await addUser({ databaseOf: () => rig.database }, 'ann@shop.example', 'a long enough passphrase', box);
    await ownerQuery(
      rig,
      'INSERT INTO boxgate.group_member (box, user_id, group_id) SELECT g.box, $2, g.id FROM boxgate.group g WHERE g.box = $1 AND g.name = $3',
      [box, user, name],
    );
  }

  it('is Ready and waits with its deletion, and the policy that links it by name finds it', async () => {
    await rig.put('AccessPolicy', box, 'staff', policy);
    await rig.put('Group', box, 'staff', { description: 'Who works here' });
    await rig.ready('Group', box, 'staff');
    const { metadata, status } = (await rig.find('Group', box, 'staff')) ?? {};
    expect(isObject(metadata) && metadata['finalizers']).to.deep.equal(['boxgate.dev/finalizer']);
    expect(isObject(status) && status['name']).to.equal('staff');
    await eventually('the link is found', async () => {
      return (await rig.condition('AccessPolicy', box, 'staff', 'LinksResolved')) === 'True/AllFound';
    });
    expect(await names()).to.deep.equal([`staff of ${box}/staff`]);
  });

  it('kubectl get shows its members, and its name where it is asked for more', async () => {
    await rig.put('Group', box, 'kitchen', { name: 'Küche & Bad' });
    await rig.ready('Group', box, 'kitchen');
    const get = (...more: readonly string[]): Promise<string> => kubectl(rig.plane, 'get', ...more, '--namespace', box);
    expect(await get('groups.boxgate.dev')).to.match(
      /^NAME +MEMBERS +READY +REASON +AGE\nkitchen +0 +True +Ready +\S+\n$/,
    );
    await memberOf('Küche & Bad');
    await eventually('the member is counted', async () => /^kitchen +1 /m.test(await get('bxg')), 60_000);
    expect(await get('boxgate', '--output', 'wide')).to.match(/^\S*kitchen +1 +True +Ready +\S+ +Küche & Bad$/m);
  });

  it('goes on without an owner by default when it is deleted, and is adopted by the next one of its name', async () => {
    await rig.put('Group', box, 'staff', {});
    await rig.ready('Group', box, 'staff');
    await memberOf('staff');
    await kubectl(rig.plane, 'delete', 'bxg', 'staff', '--namespace', box, '--timeout', '30s');
    expect(await names()).to.deep.equal(['staff of null']);
    await rig.put('Group', box, 'staff', {});
    await rig.ready('Group', box, 'staff');
    expect(await names()).to.deep.equal([`staff of ${box}/staff`]);
    const [members] = await ownerQuery(rig, 'SELECT count(*)::int AS n FROM boxgate.group_member WHERE box = $1', [
      box,
    ]);
    expect(members).to.deep.equal({ n: 1 });
  });

  it('is gone when kubectl delete returns, where its deletionPolicy is Delete', async () => {
    await rig.put('Group', box, 'staff', { deletionPolicy: 'Delete' });
    await rig.ready('Group', box, 'staff');
    await memberOf('staff');
    await kubectl(rig.plane, 'delete', 'bxg', 'staff', '--namespace', box, '--timeout', '30s');
    expect(await names()).to.deep.equal([]);
  });

  it('keeps its name: the API server refuses another one, and one of only digits', async () => {
    await rig.put('Group', box, 'staff', {});
    const refusal = (name: string, spec: object) =>
      rig.put('Group', box, name, spec).then(
        () => 'taken',
        (error: unknown) => String(error),
      );
    expect(await refusal('staff', { name: 'admins' })).to.contain('spec.name must stay as it is');
    expect(await refusal('other', { name: '42' })).to.contain('name must not be only digits');
    expect(await refusal('42', {})).to.contain('metadata.name must not be only digits, or spec.name must be given');
  });
});
