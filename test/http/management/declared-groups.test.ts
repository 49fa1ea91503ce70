import { expect } from 'chai';
import type { DeclareLine } from '../../../api/client/desired-state.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { compare, declaredBox } from '../declared-box.ts';
import type { DeclaredBox } from '../declared-box.ts';

const signal = new AbortController().signal;

describe('groups that lines of an apply call declare', () => {
  let api: TestApi;
  let box: DeclaredBox;
  let boxes = 0;

  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    boxes += 1;
    box = await declaredBox(api, `groups-${String(boxes)}`);
  });

  function group(name: string, fields: Partial<DeclareLine> = {}, resource: object = {}): DeclareLine {
    const owner = { name: `${box.box}/${name}`, uid: `uid-of-${name}` };
    const digest = JSON.stringify([name, fields, resource]);
    return {
      kind: 'Group',
      id: name,
      owner,
      digest,
      resource: { resourceType: 'Group', name, ...resource },
      ...fields,
    };
  }

  const rows = (): Promise<readonly Record<string, unknown>[]> =>
    ownerQuery(api, 'SELECT id::int, name, owner_cluster AS owner FROM boxgate.group WHERE box = $1 ORDER BY id', [
      box.box,
    ]);

  const overRest = (id: number, name: string) =>
    ownerQuery(
      api,
      `WITH counted AS (INSERT INTO boxgate.last_id (box, kind, id) VALUES ($1, 'Group', $2)
                        ON CONFLICT (box, kind) DO UPDATE SET id = excluded.id)
       INSERT INTO boxgate.group (box, id, name, version) VALUES ($1, $2, $3, 1)`,
      [box.box, id, name],
    );

  it('are created, compared, changed and deleted, and take numbers in one call as they would one by one', async () => {
    const [a, b] = [group('a'), group('b')];
    expect(await box.verdicts([a, b])).to.equal('created created');
    expect(await box.verdicts([a, group('c', {}, { description: 'new' }), b])).to.equal('unchanged created unchanged');
    expect((await rows()).map(({ id, name }) => `${String(id)} ${String(name)}`)).to.deep.equal(['1 a', '2 b', '3 c']);
    expect(await box.verdicts([compare(a), compare({ ...b, digest: 'another' })], true)).to.equal(
      'unchanged needed undeclared',
    );
    expect(await box.verdicts([group('a', { digest: 'new' }, { description: 'changed' })])).to.equal('updated');
    const gone = ({ kind, id, owner }: DeclareLine) => ({ kind, id, owner, delete: true }) as const;
    expect(await box.verdicts([gone({ ...b, owner: a.owner }), gone(b), gone(b)])).to.equal('conflict deleted deleted');
    expect(await box.verdicts([gone(b)])).to.equal('absent');
    expect(await box.verdicts([b])).to.equal('created');
    expect((await rows()).map(({ id, name }) => `${String(id)} ${String(name)}`)).to.deep.equal(['1 a', '3 c', '4 b']);
  });

  const refusals: readonly [title: string, line: () => DeclareLine, path: string][] = [
    ['of another name than the line', () => group('a', { id: 'b' }), 'id'],
    ['of only digits', () => group('42'), 'name'],
    ['with members', () => group('a', {}, { members: 1 }), 'members'],
    ['with a description that is no text', () => group('a', {}, { description: null }), 'description'],
    ['that is a Client', () => group('a', { resource: { resourceType: 'Client', id: 'a', grant_types: [] } }), 'name'],
    ['with a previous secret', () => group('a', { previous: { until: '2999-01-01T00:00:00Z' } }), 'previous'],
  ];
  for (const [title, line, path] of refusals) {
    it(`are refused ${title}, and the others of the call are stored`, async () => {
      const [refused, stored] = await box.apply([line(), group('other')]);
      expect(refused?.result).to.equal('invalid');
      expect(refused?.faults?.map((fault) => fault.path)).to.include(path);
      expect(stored?.result).to.equal('created');
      expect((await rows()).map(({ name }) => name)).to.deep.equal(['other']);
    });
  }

  it('belong to their cluster until another one adopts it', async () => {
    await box.apply([group('staff', { adopt: 'unowned' })]);
    const cluster = `cluster-of-${box.box}`;
    const stranger = await declaredBox(api, box.box, 'stranger');
    for (const adopt of ['unowned', 'force'] as const) {
      const [answer] = await stranger.apply([group('staff', { adopt })]);
      expect(answer).to.include({ result: 'conflict', detail: `owned by ${box.box}/staff of cluster ${cluster}` });
    }
    const heir = await declaredBox(api, box.box, `heir-of-${box.box}`, cluster);
    expect(await box.management.declaredBoxes(cluster, signal)).to.deep.equal([]);
    expect(await heir.management.declaredBoxes(`heir-of-${box.box}`, signal)).to.deep.equal([
      { box: box.box, resources: 1 },
    ]);
    const line = group('staff', { owner: { name: `${box.box}/staff`, uid: 'another' } });
    expect(await heir.verdicts([compare(line)], true)).to.equal('needed');
    expect(await heir.verdicts([line])).to.equal('updated');
    expect(await rows()).to.deep.equal([{ id: 1, name: 'staff', owner: `heir-of-${box.box}` }]);
  });

  it('alone make their box one that is in use, until the last of them goes', async () => {
    const isInUse = async (): Promise<boolean> => {
      const found = await ownerQuery(api, 'SELECT box FROM boxgate.boxes_in_use(1000)', []);
      return found.some((row) => row['box'] === box.box);
    };
    const { kind, id, owner } = group('staff');
    await box.apply([group('staff')]);
    expect(await isInUse()).to.equal(true);
    await box.apply([{ kind, id, owner, delete: true, retain: true }]);
    expect(await rows()).to.deep.equal([{ id: 1, name: 'staff', owner: null }]);
    expect(await isInUse()).to.equal(false);
  });

  it('stay with the data of a namespace that an admin adopts, and go with data that an admin discards', async () => {
    box.namespace = { uid: 'one' };
    await box.apply([group('staff')]);
    await overRest(2, 'made');
    box.namespace = { uid: 'two', adopt: 'one' };
    const line = group('staff', { owner: { name: `${box.box}/staff`, uid: 'another' } });
    expect(await box.verdicts([line])).to.equal('updated');
    expect((await rows()).map(({ id }) => id)).to.deep.equal([1, 2]);
    box.namespace = { uid: 'three', discard: 'two' };
    expect(await box.verdicts([line])).to.equal('created');
    expect((await rows()).map(({ id, name }) => `${String(id)} ${String(name)}`)).to.deep.equal(['3 staff']);
  });

  it('stay when the data of their box are deleted with its Box, and those made over REST go', async () => {
    const owner = { name: `${box.box}/box`, uid: 'uid-of-box' };
    const settings = { kind: 'Box' as const, id: box.box, owner };
    const resource = { resourceType: 'Box' as const, id: box.box };
    await box.apply([group('staff'), { ...settings, digest: 'd', purge: true, resource }]);
    await overRest(2, 'made');
    expect(await box.verdicts([{ ...settings, delete: true }])).to.equal('deleted');
    expect((await rows()).map(({ name }) => name)).to.deep.equal(['staff']);
  });

  it('are counted with the usage of their box, up to a limit, in its first portion only', async () => {
    await box.apply([group('staff'), group('empty')]);
    await overRest(3, 'made');
    await ownerQuery(
      api,
      `WITH people AS (INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
                       SELECT $1, n, n || '@b', n || '@b', '', '' FROM generate_series(1, 10001) AS n RETURNING box, id)
       SELECT count(*) FROM people`,
      [box.box],
    );
    const join = (count: number) =>
      ownerQuery(
        api,
        `INSERT INTO boxgate.group_member (box, user_id, group_id)
         SELECT u.box, u.id, g.id FROM boxgate.user u JOIN boxgate.group g ON g.box = u.box AND g.name = 'staff'
          WHERE u.box = $1 ORDER BY u.id LIMIT $2 ON CONFLICT DO NOTHING`,
        [box.box, count],
      );
    const usage = (after = '') => box.management.usage(box.box, `cluster-of-${box.box}`, after, signal);
    await join(2);
    expect((await usage()).groups).to.deep.equal([
      { name: 'empty', members: 0 },
      { name: 'staff', members: 2 },
    ]);
    await join(10_001);
    expect((await usage()).groups[1]).to.deep.equal({ name: 'staff', members: 10_000 });
    expect((await usage('x')).groups).to.deep.equal([]);
  });
});
