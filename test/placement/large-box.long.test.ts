import { expect } from 'chai';
import pg from 'pg';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { declareBox, introspect, issue, move } from './box-calls.ts';
import { threeDatabases } from './three-databases.ts';
import type { ThreeDatabases } from './three-databases.ts';

const sessions = 100_000;

describe('a box with many sessions', () => {
  let databases: ThreeDatabases;
  let api: ApiProcess;

  before(async () => {
    databases = await threeDatabases();
    const { BOXGATE_DATABASE_URL, ...environment } = databases.environment();
    api = await startApiProcess(BOXGATE_DATABASE_URL, environment);
  });
  after(async () => {
    await api.end('SIGTERM');
    await databases.drop();
  });

  it('is moved with all of them; tells how long its writes have waited', async function () {
    this.timeout(600_000);
    const box = await declareBox(api, 'large', 'home');
    const token = String((await issue(api, box)).json['access_token']);
    const owner = new pg.Client({ connectionString: databases.ownerUrl('home') });
    await owner.connect();
    await owner.query(
      `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client, token_hash)
       SELECT gen_random_uuid(), s.version, s.expires_at, s.bucket, s.type, s.box, s.client, sha256(n::text::bytea)
         FROM boxgate.session s, generate_series(1, ${String(sessions)}) n WHERE s.box = 'large'`,
    );
    await owner.end();
    const state = { isOver: false, longest: 0 };
    let last = performance.now();
    const writing = (async () => {
      while (!state.isOver) {
        const { status } = await issue(api, box);
        expect([200, 503]).to.include(status);
        if (status !== 200) continue;
        state.longest = Math.max(state.longest, performance.now() - last);
        last = performance.now();
      }
    })();
    const began = performance.now();
    const status = await move(api, box, 'eu');
    const took = performance.now() - began;
    expect(status).to.equal(200);
    await issue(api, box);
    state.isOver = true;
    await writing;
    expect(await databases.servedIn('large')).to.deep.equal(['eu']);
    expect((await introspect(api, box, token)).json['active']).to.equal(true);
    process.stdout.write(
      `      ${JSON.stringify({ sessions, moved_in_ms: Math.round(took), writes_waited_ms: Math.round(state.longest) })}\n`,
    );
  });
});
