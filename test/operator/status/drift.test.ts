import { expect } from 'chai';
import { hash } from 'node:crypto';
import pg from 'pg';
import type { Declared } from '../../../operator/desired/declared.ts';
import { sendJson } from '../../oauth/requests.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { unthrottled } from '../../support/unthrottled.ts';
import { allowPolicy, declared, machineClient } from '../declare.ts';
import { passRig, type PassRig } from '../pass-rig.ts';

/** Rows that somebody changes past the service, found by the sweep of a real pass over a real API. */
describe('F-27 I5 rows that are changed by hand', () => {
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
  const events = () =>
    rig.events.recorded.map(({ object, reason, type }) => `${type} ${reason} ${object.kind}/${object.name}`);

  /** Returns the rows without the columns that every write changes. */
  async function rows(): Promise<readonly unknown[]> {
    const found = await owner.query<{ row: Readonly<Record<string, unknown>> }>(
      `SELECT to_jsonb(r) - ARRAY['version', 'content', 'content_version', 'written_in', 'sessions_from', 'created_at', 'updated_at'] AS row
         FROM boxgate.resource r WHERE box = $1 ORDER BY kind, id`,
      [box],
    );
    return found.rows.map(({ row }) => row);
  }

  const ofApp = `WHERE box = $box AND kind = 'Client' AND id = 'app'`;
  const ofPolicy = `WHERE box = $box AND kind = 'AccessPolicy'`;
  const warning = 'Warning DriftCorrected';
  const edits: [title: string, statement: string, event: string][] = [
    ['another secret', `UPDATE boxgate.resource SET secrets = '{$sha256$00}' ${ofApp}`, `${warning} Client/app`],
    [
      'a second secret',
      `UPDATE boxgate.resource SET previous_secret = '$sha256$00', previous_until = 'infinity' ${ofApp}`,
      `${warning} Client/app`,
    ],
    [
      'more scope',
      `UPDATE boxgate.resource SET body = body || '{"scope": ["admin"]}' ${ofApp}`,
      `${warning} Client/app`,
    ],
    [
      'switched off',
      `UPDATE boxgate.resource SET body = body || '{"active": false}' ${ofApp}`,
      `${warning} Client/app`,
    ],
    ['revocations taken back', `UPDATE boxgate.resource SET sessions_from = 0 ${ofApp}`, `${warning} Client/app`],
    ['another owner', `UPDATE boxgate.resource SET owner_name = 'a/b' ${ofApp}`, `${warning} Client/app`],
    ['another cluster', `UPDATE boxgate.resource SET owner_cluster = 'x' ${ofApp}`, `${warning} Client/app`],
    [
      'no owner',
      `UPDATE boxgate.resource SET owner_cluster = NULL, owner_name = NULL ${ofApp}`,
      `${warning} Client/app`,
    ],
    ['another digest', `UPDATE boxgate.resource SET digest = 'x' ${ofApp}`, `${warning} Client/app`],
    ['retained', `UPDATE boxgate.resource SET retain = true ${ofApp}`, `${warning} Client/app`],
    ['taken away', `DELETE FROM boxgate.resource ${ofApp}`, `${warning} Client/app`],
    [
      'open to all',
      `UPDATE boxgate.resource SET body = body || '{"subjects": "anyone"}' ${ofPolicy}`,
      `${warning} AccessPolicy/policy`,
    ],
    ['a policy taken away', `DELETE FROM boxgate.resource ${ofPolicy}`, `${warning} AccessPolicy/policy`],
    [
      'the purge of its data',
      `UPDATE boxgate.resource SET purge = true WHERE box = $box AND kind = 'Box'`,
      `${warning} Box/box`,
    ],
    [
      'a policy of an object that is not there',
      `INSERT INTO boxgate.resource (box, kind, id, version, body, owner_cluster, owner_name, owner_uid)
       SELECT box, kind, 'mine', 1, body || '{"id": "mine", "subjects": "anyone"}', owner_cluster, box || '/mine', 'u'
         FROM boxgate.resource ${ofPolicy}`,
      `${warning} AccessPolicy/mine`,
    ],
    [
      'a copy that names a living object as its owner',
      `INSERT INTO boxgate.resource (box, kind, id, version, body, secrets, owner_cluster, owner_name, owner_uid, digest)
       SELECT box, kind, 'copy', 1, body || '{"id": "copy"}', secrets, owner_cluster, owner_name, owner_uid, digest
         FROM boxgate.resource ${ofApp}`,
      `${warning} Client/app`,
    ],
  ];
  for (const [title, statement, event] of edits) {
    it(`are healed, with an Event: ${title}`, async () => {
      const before = await rows();
      await sql(statement);
      expect(await rows()).to.satisfy(
        (found: unknown) => title === 'revocations taken back' || JSON.stringify(found) !== JSON.stringify(before),
      );
      await sweep();
      expect(await rows()).to.deep.equal(before);
      expect(events()).to.deep.equal([event]);
      await sweep();
      expect(events()).to.have.length(1);
      expect(await rig.token('app')).to.equal(200);
    });
  }

  it('are no news when nobody changed them', async () => {
    const version = await rig.version();
    await sweep();
    await rig.restart();
    await sweep();
    expect(events()).to.deep.equal([]);
    expect(await rig.version()).to.equal(version);
  });

  it('are left alone where nobody owns them: they were made over REST', async () => {
    await sql(`INSERT INTO boxgate.resource (box, kind, id, version, body) VALUES ($box, 'Client', 'rest', 1, '{}')`);
    await sweep();
    expect(await rows()).to.have.length(5);
    expect(events()).to.deep.equal([]);
  });

  it('I1 give no token that lives on: what was got with a secret put there by hand ends when it is healed', async () => {
    const stolen = `$sha256$${hash('sha256', 'bgs_of-the-thief', 'hex')}`;
    await sql(`UPDATE boxgate.resource SET secrets = ARRAY['${stolen}'] ${ofApp}`);
    // So that a replica that holds the box reads it again, as one does at its start.
    await sql(`UPDATE boxgate.box SET config_version = config_version + 1 WHERE box = $box`);
    const asked = { grant_type: 'client_credentials', client_id: 'app', client_secret: 'bgs_of-the-thief' };
    const token = String((await sendJson(`${api.url}/boxes/${box}/auth/token`, asked)).body['access_token']);
    expect(token).to.match(/^bgt_/);
    await sweep();
    expect(await rig.token('app', 'bgs_of-the-thief')).to.equal(401);
    const other = { client_id: 'other', client_secret: rig.keeper.kept.get('other')?.value.reveal() ?? '' };
    const found = await sendJson(`${api.url}/boxes/${box}/auth/introspect`, { ...other, token });
    expect(found.body).to.deep.equal({ active: false });
  });
});
