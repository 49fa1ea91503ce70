import { expect } from 'chai';
import { Secret } from '../../../api/client/secret.ts';
import type { Declared } from '../../../operator/desired/declared.ts';
import { readQuota } from '../../../operator/desired/candidates.ts';
import { addUser, newBrowser } from '../../http/pages/browser.ts';
import { entries } from '../../http/resources/box-api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { declared, edited } from '../declare.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';

const group = (name: string, spec: Readonly<Record<string, unknown>> = {}, fields: Partial<Declared> = {}) =>
  declared('Group', name, spec, fields);

const app = declared('Client', 'app', {
  grant_types: ['implicit'],
  first_party: true,
  auth: { implicit: { redirect_uri: 'https://app.example/back' } },
});
const person = { email: 'ann@shop.example', password: 'a long enough passphrase' };

/** Groups that objects declare, by real passes over a real API. */
describe('a Group that is declared', () => {
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  function rows(): Promise<readonly Record<string, unknown>[]> {
    const members = '(SELECT count(*)::int FROM boxgate.group_member m WHERE m.box = g.box AND m.group_id = g.id)';
    return ownerQuery(
      rig.api,
      `SELECT id::int, name, owner_name AS owner, ${members} AS members FROM boxgate.group g WHERE box = $1 ORDER BY id`,
      [rig.box],
    );
  }

  /** Stores a group as REST does, with a new member. */
  async function groupOverRest(name: string): Promise<void> {
    await rig.pass([app]);
    const user = await addUser(rig.api, person.email, person.password, rig.box);
    await ownerQuery(
      rig.api,
      `WITH made AS (INSERT INTO boxgate.group (box, id, name, version) VALUES ($1, 1, $2, 1) RETURNING box, id),
            counted AS (INSERT INTO boxgate.last_id (box, kind, id) VALUES ($1, 'Group', 1))
       SELECT FROM made`,
      [rig.box, name],
    );
    await join(user, 1);
  }

  async function join(user: number, id: number): Promise<void> {
    await ownerQuery(rig.api, 'INSERT INTO boxgate.group_member (box, user_id, group_id) VALUES ($1, $2, $3)', [
      rig.box,
      user,
      id,
    ]);
  }

  /** Status of a list of groups with a token of the person. */
  async function readsGroups(): Promise<number> {
    return (await callAsPerson('GET', '/Group')).status;
  }

  /** Sends a request with a token that the person gets by signing in to the app. */
  async function callAsPerson(method: 'GET' | 'PUT', path: string, body?: unknown): Promise<Response> {
    const browser = newBrowser(rig.api, rig.box);
    await browser.submit('/auth/signin', { email: person.email, password: person.password });
    const { location } = await browser.get('/auth/authorize?response_type=token&client_id=app');
    const token = new URLSearchParams(location.split('#')[1]).get('access_token') ?? '';
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(`${rig.api.url}/boxes/${rig.box}${path}`, { method, headers, ...sent });
  }

  const owned = (name: string): string => `${rig.box}/${name}`;
  const message = (key: string): string | undefined => rig.source.statuses.get(key)?.conditions[0]?.message;

  it('has the name of its object, or its own, and policies find it by name without a call of the REST API', async () => {
    const policy = declared('AccessPolicy', 'cooks', { engine: 'allow', link: [{ reference: 'Group/Küche & Bad' }] });
    await rig.pass([policy]);
    expect(rig.condition('AccessPolicy/cooks', 'LinksResolved')).to.equal('False/DanglingLinks');
    await rig.pass([policy, group('staff'), group('kitchen', { name: 'Küche & Bad' })]);
    expect(rig.condition('AccessPolicy/cooks', 'LinksResolved')).to.equal('True/AllFound');
    expect([rig.condition('Group/staff'), rig.condition('Group/kitchen')]).to.deep.equal(['True/Ready', 'True/Ready']);
    expect((await rows()).map(({ name, owner }) => [name, owner])).to.have.deep.members([
      ['staff', owned('staff')],
      ['Küche & Bad', owned('kitchen')],
    ]);
  });

  it('is found by its number too', async () => {
    const policy = declared('AccessPolicy', 'first', { engine: 'allow', link: [{ reference: 'Group/1' }] });
    await rig.pass([group('staff'), policy]);
    expect(rig.condition('AccessPolicy/first', 'LinksResolved')).to.equal('True/AllFound');
  });

  it('belongs to the oldest object of two that declare one name, and to the other once that is gone', async () => {
    const older = group('older', { name: 'staff' }, { created: '2026-01-01' });
    const younger = group('younger', { name: 'staff' }, { created: '2026-01-02' });
    await rig.pass([younger, older]);
    expect([rig.condition('Group/older'), rig.condition('Group/younger')]).to.deep.equal([
      'True/Ready',
      'False/DeclaredTwice',
    ]);
    expect(message('Group/younger')).to.contain(`${owned('older')} declares the same name and has it`);
    const user = await addUser(rig.api, person.email, person.password, rig.box);
    await join(user, 1);
    await rig.pass([younger]);
    expect(rig.condition('Group/younger')).to.equal('True/Ready');
    expect(await rows()).to.deep.equal([{ id: 1, name: 'staff', owner: owned('younger'), members: 1 }]);
  });

  for (const [title, spec] of [
    ['by default', {}],
    ['with adoption IfUnowned', { adoption: 'IfUnowned' }],
    ['with adoption Force', { adoption: 'Force' }],
  ] as const) {
    it(`takes ${title} the group of its name that was made over REST, with its id and its members`, async () => {
      await groupOverRest('staff');
      await rig.pass([app, group('staff', spec)], 'everything');
      expect(rig.condition('Group/staff')).to.equal('True/Ready');
      expect(await rows()).to.deep.equal([{ id: 1, name: 'staff', owner: owned('staff'), members: 1 }]);
    });
  }

  it('with adoption Never leaves the group of its name that was made over REST, and says so', async () => {
    await groupOverRest('staff');
    await rig.pass([app, group('staff', { adoption: 'Never' }), group('others')]);
    expect([rig.condition('Group/staff'), rig.condition('Group/others')]).to.deep.equal([
      'False/OwnedByAnother',
      'True/Ready',
    ]);
    expect(message('Group/staff')).to.contain('no object declares it: it was created over REST, or retained');
    expect((await rows())[0]).to.deep.equal({ id: 1, name: 'staff', owner: null, members: 1 });
  });

  it('R-50 that declares another name is another group: the members of the old one get nothing of the new name', async () => {
    const policy = declared('AccessPolicy', 'admins-see', { engine: 'allow', link: [{ reference: 'Group/admins' }] });
    await groupOverRest('staff');
    await rig.pass([app, policy, group('team', { name: 'staff' })]);
    expect(await readsGroups()).to.equal(403);
    // A folder has no API server that refuses the change.
    await rig.pass([app, policy, edited(group('team'), { name: 'admins' })]);
    expect(rig.condition('Group/team')).to.equal('True/Ready');
    expect(await rows()).to.deep.equal([
      { id: 1, name: 'staff', owner: null, members: 1 },
      { id: 2, name: 'admins', owner: owned('team'), members: 0 },
    ]);
    expect(await readsGroups()).to.equal(403);
  });

  it('that is created again under another uid keeps its id and its members', async () => {
    await groupOverRest('staff');
    await rig.pass([app, group('staff')]);
    await rig.pass([app, group('staff', {}, { uid: 'younger' })]);
    await rig.restart();
    await rig.pass([app, group('staff', {}, { uid: 'youngest' })], 'everything');
    expect(rig.condition('Group/staff')).to.equal('True/Ready');
    expect(await rows()).to.deep.equal([{ id: 1, name: 'staff', owner: owned('staff'), members: 1 }]);
  });

  it('is left as it is while its object is suspended or faulty', async () => {
    await rig.pass([group('staff', { description: 'before' })]);
    const version = await rig.version();
    for (const spec of [
      { description: 'after', suspend: true },
      { description: 'after', name: '42' },
    ]) {
      await rig.pass([edited(group('staff'), spec)], 'everything');
      expect(await rig.version()).to.equal(version);
    }
    expect(rig.condition('Group/staff')).to.equal('False/Invalid');
  });

  it('with deletionPolicy Delete goes with its object, with its memberships, and its number is never used again', async () => {
    await groupOverRest('staff');
    const own = group('staff', { deletionPolicy: 'Delete' });
    const policy = declared('AccessPolicy', 'staff', { engine: 'allow', link: [{ reference: 'Group/staff' }] });
    await rig.pass([app, policy, own]);
    expect(await readsGroups()).to.equal(200);
    await rig.pass([app, policy]);
    expect(await rows()).to.deep.equal([]);
    expect(await readsGroups()).to.equal(403);
    expect(rig.condition('AccessPolicy/staff', 'LinksResolved')).to.equal('False/DanglingLinks');
    await rig.pass([app, policy, own]);
    expect(await rows()).to.deep.equal([{ id: 2, name: 'staff', owner: owned('staff'), members: 0 }]);
  });

  it('has one target in the audit trail, its number, whoever changes it, and its deletion is recorded as over REST', async () => {
    const policy = declared('AccessPolicy', 'all', { engine: 'allow', link: [{ reference: 'User/1' }] });
    const kept = group('staff', { description: 'before' });
    await rig.pass([app, policy, kept]);
    const user = await addUser(rig.api, person.email, person.password, rig.box);
    expect((await callAsPerson('PUT', `/users/${String(user)}`, { 'group-ids': [1] })).status).to.equal(200);
    await rig.pass([app, policy, edited(kept, { description: 'after' })]);
    await rig.pass([app, policy]);
    await rig.pass([app, policy, group('staff', { description: 'after', deletionPolicy: 'Delete' })]);
    await rig.pass([app, policy]);
    const reply = await callAsPerson('GET', '/AuditEvent?target=Group/1');
    const records = entries({ status: reply.status, headers: reply.headers, text: '', body: await reply.json() });
    expect(records.toReversed().map(({ event, changed, member }) => [event, changed, member])).to.deep.equal([
      ['group.created', undefined, undefined],
      ['group.member_added', undefined, { resourceType: 'User', id: String(user) }],
      ['group.changed', ['description'], undefined],
      ['group.changed', ['owner'], undefined],
      ['group.changed', ['owner'], undefined],
      ['group.deleted', undefined, undefined],
    ]);
    const targets = await ownerQuery(
      rig.api,
      "SELECT DISTINCT target FROM boxgate.audit_event WHERE box = $1 AND target LIKE 'Group/%'",
      [rig.box],
    );
    expect(targets).to.deep.equal([{ target: 'Group/1' }]);
  });

  it('says how many members it has when the usage of the box is read, not on each change', async () => {
    await groupOverRest('staff');
    const members = (): unknown => {
      const columns = rig.source.statuses.get('Group/staff')?.columns;
      return columns?.kind === 'Group' ? columns.members : columns;
    };
    await rig.pass([app, group('staff')], 'everything');
    expect(members()).to.equal(undefined);
    rig.now = new Date(rig.now.getTime() + 3_600_000);
    await rig.pass([app, group('staff')], 'everything');
    expect(members()).to.equal(1);
  });

  it('R-53 beyond the quota of groups is refused, and everything else applied', async () => {
    rig.source.quota = readQuota('groups=1');
    const one = group('one', {}, { created: '2026-01-01' });
    const two = group('two', {}, { created: '2026-01-02' });
    await rig.pass([two, one, app], 'everything');
    expect(['Group/one', 'Group/two', 'Client/app'].map((key) => rig.condition(key))).to.deep.equal([
      'True/Ready',
      'False/QuotaExceeded',
      'True/Ready',
    ]);
    expect(message('Group/two')).to.contain('at most 1 groups');
    await rig.pass([edited(one, { description: 'still within' }), two, app]);
    expect(rig.condition('Group/one')).to.equal('True/Ready');
  });

  it('R-53 beyond the quota of bytes is refused', async () => {
    rig.source.quota = readQuota('bytes=1000');
    await rig.pass([group('large', { description: 'x'.repeat(1001) })], 'everything');
    expect(rig.condition('Group/large')).to.equal('False/QuotaExceeded');
    await rig.pass([group('small', { description: 'x'.repeat(900) })]);
    expect(rig.condition('Group/small')).to.equal('True/Ready');
  });

  describe('of the name admins, in a box with a bootstrap_admin', () => {
    const email = person.email;
    const box = declared('Box', 'box', {
      bootstrap_admin: { email, passwordSecretRef: { name: 'first', key: 'password' } },
    });
    beforeEach(() => {
      const labels = { 'boxgate.dev/client-secret': 'true' };
      const entries = new Map([['password', new Secret(person.password)]]);
      rig.source.secrets = [{ namespace: rig.box, name: 'first', type: 'Opaque', labels, entries }];
    });

    it('is the group of that admin, though it must not take one over', async () => {
      await rig.pass([group('admins', { adoption: 'Never' }, { created: '9' }), app, box]);
      expect([rig.condition('Group/admins'), rig.condition('Box/box')]).to.deep.equal(['True/Ready', 'True/Ready']);
      expect(await rows()).to.deep.equal([{ id: 1, name: 'admins', owner: owned('admins'), members: 1 }]);
      expect(await readsGroups()).to.equal(200);
    });

    it('takes the group over that the Box made, and the admin stays in it', async () => {
      await rig.pass([app, box]);
      await rig.pass([app, box, group('admins')]);
      expect(await rows()).to.deep.equal([{ id: 1, name: 'admins', owner: owned('admins'), members: 1 }]);
      expect(await readsGroups()).to.equal(200);
    });

    it('takes its rights along when it is deleted with deletionPolicy Delete, and no sweep brings them back', async () => {
      const admins = group('admins', { deletionPolicy: 'Delete' });
      await rig.pass([app, box, admins]);
      await rig.pass([app, box]);
      for (let sweeps = 0; sweeps < 2; sweeps += 1) await rig.pass([app, box], 'everything');
      expect(await rows()).to.deep.equal([]);
      expect(await readsGroups()).to.equal(403);
      await rig.pass([app, box, admins]);
      expect(await readsGroups()).to.equal(403);
    });
  });

  for (const [title, statement] of [
    ['has another digest', `UPDATE boxgate.group SET digest = 'x'`],
    ['is missing', `DELETE FROM boxgate.group`],
  ] as const) {
    it(`is stored again by the next sweep if its row ${title}`, async () => {
      const objects = [group('staff', { description: 'ours' }), group('others')];
      await rig.pass(objects, 'everything');
      const before = (await rows()).map(({ name, owner }) => ({ name, owner }));
      await ownerQuery(rig.api, `${statement} WHERE box = $1 AND name = 'staff'`, [rig.box]);
      await rig.pass(objects, 'everything');
      expect((await rows()).map(({ name, owner }) => ({ name, owner }))).to.have.deep.members(before);
      const version = await rig.version();
      await rig.pass(objects, 'everything');
      expect(await rig.version()).to.equal(version);
    });
  }
});
