import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isObject } from '../../crds/path.ts';
import { startProcessRig, type ProcessRig } from '../operator/operator-rig.ts';
import { restoreBaseBackup, takeBaseBackup } from '../support/physical-backup.ts';
import { eventually } from '../support/eventually.ts';
import { startOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts';

const secret = 'a-secret-of-the-drill';
const machine = { grant_types: ['client_credentials'], secret };
const everything = { engine: 'allow', subjects: 'authenticated' };

describe('F-19 docs/guides/upgrade.md: a database that is restored from a backup', () => {
  let postgres: OwnPostgres;
  let rig: ProcessRig;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'boxgate-backup-'));
    postgres = await startOwnPostgres();
    const { ownerUrl, apiUrl } = postgres;
    rig = await startProcessRig(undefined, { ownerUrl, apiUrl, drop: () => postgres.remove() });
    await rig.operatorProcess({ BOXGATE_SWEEP_SECONDS: '1' });
  });
  after(async () => {
    await rig.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function tokenOf(box: string, client: string): Promise<string> {
    const response = await fetch(`${rig.api.url}/boxes/${box}/auth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: client, client_secret: secret }),
    });
    const answer: unknown = await response.json();
    return isObject(answer) ? String(answer['access_token']) : '';
  }

  async function statusOf(box: string, token: string, method = 'GET'): Promise<number> {
    const headers = { Authorization: `Bearer ${token}` };
    return (await fetch(`${rig.api.url}/boxes/${box}/Session`, { method, headers })).status;
  }

  it('has what is declared now, and no token that was revoked after the backup', async () => {
    const box = await rig.box();
    await rig.put('AccessPolicy', box, 'policy', everything);
    for (const name of ['kept', 'deleted-later']) await rig.put('Client', box, name, machine);
    for (const name of ['kept', 'deleted-later']) await rig.ready('Client', box, name);
    await rig.ready('AccessPolicy', box, 'policy');
    const revoked = await tokenOf(box, 'kept');
    const never = await tokenOf(box, 'kept');
    const ofDeleted = await tokenOf(box, 'deleted-later');

    const backup = path.join(folder, 'data');
    await takeBaseBackup(postgres, backup);

    // An hour of changes.
    expect(await statusOf(box, revoked, 'DELETE')).to.equal(200);
    expect(await statusOf(box, revoked)).to.equal(401);
    await rig.remove('Client', box, 'deleted-later');
    await eventually('it is deleted', async () => (await rig.find('Client', box, 'deleted-later')) === undefined);
    await rig.put('Client', box, 'created-later', machine);
    await rig.ready('Client', box, 'created-later');

    await rig.api.end('SIGTERM');
    await postgres.kill();
    await restoreBaseBackup(backup, postgres);
    await postgres.restart();
    await rig.restartApi();

    // The reason for the next step, and why nobody may reach the public port before it.
    expect(await statusOf(box, revoked)).to.equal(200);

    await rig.put('Box', box, 'box', { revoke_sessions_before: new Date().toISOString() });
    await rig.ready('Box', box, 'box');
    for (const token of [revoked, never]) expect(await statusOf(box, token)).to.equal(401);
    await eventually(
      'what was declared since then is back',
      async () => (await rig.token(box, 'created-later', secret)) === 200,
    );
    await eventually(
      'what was deleted since then is gone',
      async () => (await rig.token(box, 'deleted-later', secret)) === 401,
    );
    expect(await statusOf(box, ofDeleted)).to.equal(401);
    expect(await statusOf(box, await tokenOf(box, 'kept'))).to.equal(200);
  });
});
