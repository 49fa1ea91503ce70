import { expect } from 'chai';
import pg from 'pg';
import type { Declared } from '../../../operator/desired/declared.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { unthrottled } from '../../support/unthrottled.ts';
import { allowPolicy, declared, machineClient } from '../declare.ts';
import { passRig, type PassRig } from '../pass-rig.ts';

// F-27
/** Rows that differ from what is declared, found by the sweep of a real pass over a real API. */
describe('rows that a sweep compares', () => {
  let api: TestApi;
  let owner: pg.Pool;
  let rig: PassRig;
  let box = '';
  let boxes = 0;
  const objects = [
    machineClient('app'),
    machineClient('other'),
    allowPolicy('policy', 'app'),
    declared('Box', 'box', {}),
  ];

  before(async () => {
    api = await startApi({ environment: unthrottled });
    owner = new pg.Pool({ connectionString: api.database.ownerUrl });
  });
  after(async () => {
    await owner.end();
    await api.stop();
  });
  beforeEach(async () => {
    boxes += 1;
    box = `hand-${String(boxes)}`;
    rig = await passRig(api, box);
    await rig.pass(objects, 'everything');
    await sweep();
    expect(await rows()).to.have.length(4);
  });

  const sweep = (...more: readonly Declared[]) => rig.pass([...objects, ...more], 'everything');
  const sql = (text: string) => owner.query(text.replaceAll('$box', `'${box}'`));

  /** Returns the rows without the columns that every write changes. */
  async function rows(): Promise<readonly unknown[]> {
    const found = await owner.query<{ row: Readonly<Record<string, unknown>> }>(
      `SELECT to_jsonb(r) - ARRAY['version', 'sessions_from', 'created_at', 'updated_at'] AS row
         FROM boxgate.resource r WHERE box = $1 ORDER BY kind, id`,
      [box],
    );
    return found.rows.map(({ row }) => row);
  }

  const ofApp = `WHERE box = $box AND kind = 'Client' AND id = 'app'`;
  const ofPolicy = `WHERE box = $box AND kind = 'AccessPolicy'`;
  const differences: readonly (readonly [title: string, statement: string])[] = [
    ['are stored again if they have another digest', `UPDATE boxgate.resource SET digest = 'x' ${ofApp}`],
    ['are created again: a client', `DELETE FROM boxgate.resource ${ofApp}`],
    ['are created again: a policy', `DELETE FROM boxgate.resource ${ofPolicy}`],
    [
      'are deleted if they name an object that is not there',
      `INSERT INTO boxgate.resource (box, kind, id, version, body, owner_cluster, owner_name, owner_uid)
       SELECT box, kind, 'mine', 1, body || '{"id": "mine", "subjects": "anyone"}', owner_cluster, box || '/mine', 'u'
         FROM boxgate.resource ${ofPolicy}`,
    ],
    [
      'are deleted if they name a living object that declares another one',
      `INSERT INTO boxgate.resource (box, kind, id, version, body, secrets, owner_cluster, owner_name, owner_uid, digest)
       SELECT box, kind, 'copy', 1, body || '{"id": "copy"}', secrets, owner_cluster, owner_name, owner_uid, digest
         FROM boxgate.resource ${ofApp}`,
    ],
  ];
  for (const [title, statement] of differences) {
    it(title, async () => {
      const before = await rows();
      await sql(statement);
      expect(await rows()).not.to.deep.equal(before);
      await sweep();
      expect(await rows()).to.deep.equal(before);
      const version = await rig.version();
      await sweep();
      expect(await rig.version()).to.equal(version);
      expect(await rig.token('app')).to.equal(200);
    });
  }

  it('are left alone where nobody owns them: they were made over REST', async () => {
    await sql(`INSERT INTO boxgate.resource (box, kind, id, version, body) VALUES ($box, 'Client', 'rest', 1, '{}')`);
    await sweep();
    expect(await rows()).to.have.length(5);
  });
});
