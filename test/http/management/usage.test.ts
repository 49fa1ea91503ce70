import { expect } from 'chai';
import pg from 'pg';
import type { BoxUsage } from '../../../api/client/desired-state.ts';
import { createUsageNotes } from '../../../api/box/notes.ts';
import { textOf } from '../../oauth/requests.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/eventually.ts';
import { declaredBox } from '../declared-box.ts';
import type { DeclaredBox } from '../declared-box.ts';

const signal = new AbortController().signal;
const environment = { BOXGATE_FAILURES_PER_CLIENT: '1000000', BOXGATE_FAILURES_PER_BOX: '1000000' };
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

describe('the usage of the clients of a box', () => {
  let database: TestDatabase;
  let api: TestApi;
  let owner: pg.Pool;
  let box: DeclaredBox;

  beforeEach(async () => {
    database = await freshDatabase();
    api = await startApi({ database, environment });
    owner = new pg.Pool({ connectionString: database.ownerUrl });
    box = await declaredBox(api, 'shop');
  });
  afterEach(async () => {
    await owner.end();
    await api.stop();
    await database.drop();
  });

  const usage = async (cluster = 'cluster-of-shop') =>
    (await box.management.usage('shop', cluster, '', signal)).clients;

  /** Restarts the replica: it writes its recorded usage when it stops. */
  async function restart(): Promise<void> {
    await api.stop();
    api = await startApi({ database, environment });
    box = await declaredBox(api, 'shop');
  }

  it('tells when each declared policy last granted a request, to the hour', async () => {
    const link = [{ resourceType: 'Client', id: 'app' }] as const;
    const fields = { resourceType: 'AccessPolicy', engine: 'allow', link } as const;
    const policy = (id: string) => ({
      kind: 'AccessPolicy' as const,
      id,
      owner: { name: `shop/${id}`, uid: `uid-of-${id}` },
      digest: '00',
      resource: { ...fields, id },
    });
    await box.apply([box.client('app', 'secret'), policy('used'), policy('without-use')]);
    const policies = async () => (await box.management.usage('shop', 'cluster-of-shop', '', signal)).policies;
    expect(await policies()).to.deep.equal([]);
    const headers = { Authorization: `Bearer ${textOf(await box.token('app', 'secret'), 'access_token')}` };
    expect((await fetch(`${api.url}/boxes/shop/Client`, { headers })).status).to.equal(200);
    await eventually('its use is recorded', async () => (await policies()).length > 0);
    const hour = new Date().toISOString().slice(0, 13);
    const told = await policies();
    expect(told.map(({ id }) => id)).to.deep.equal(['used']);
    expect(told[0]?.last_used_at)
      .to.match(/T\d\d:00:00\.000Z$/)
      .and.to.satisfy((time: string) => time.slice(0, 13) <= hour);
  });

  it('counts living sessions only', async () => {
    await box.apply([box.client('app', 'secret'), box.client('idle', 'secret')]);
    const tokens = [];
    for (let nth = 0; nth < 4; nth += 1) tokens.push(textOf(await box.token('app', 'secret'), 'access_token'));
    expect(await usage()).to.deep.equal([
      { id: 'app', live_sessions: 4 },
      { id: 'idle', live_sessions: 0 },
    ]);
    const revoked = await fetch(`${api.url}/boxes/shop/auth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'app', client_secret: 'secret', token: tokens[0] ?? '' }),
    });
    expect(revoked.status).to.equal(200);
    await owner.query(`UPDATE boxgate.session SET expires_at = now() - interval '1 s'
                        WHERE id = (SELECT id FROM boxgate.session WHERE ended_at IS NULL LIMIT 1)`);
    expect(await usage()).to.deep.include({ id: 'app', live_sessions: 2 });
    const settings = { revoke_sessions_before: new Date().toISOString() };
    await box.apply([box.client('app', 'secret', {}, settings)]);
    expect(await usage()).to.deep.include({ id: 'app', live_sessions: 0 });
  });

  it('says how many users the box has', async () => {
    const users = async () => (await box.management.usage('shop', 'cluster-of-shop', '', signal)).users;
    await box.apply([box.client('app', 'secret')]);
    expect(await users()).to.equal(0);
    await owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
       VALUES ('shop', 1, 'a@b', 'a@b', '', ''), ('shop', 2, 'b@b', 'b@b', '', '');
       UPDATE boxgate.box_use SET users = 2 WHERE box = 'shop'`,
    );
    expect(await users()).to.equal(2);
  });

  it('counts none from before a client was switched off', async () => {
    await box.apply([box.client('app', 'secret')]);
    await box.token('app', 'secret');
    await box.apply([box.client('app', 'secret', {}, { active: false })]);
    await box.apply([box.client('app', 'secret')]);
    expect(await usage()).to.deep.equal([{ id: 'app', live_sessions: 0 }]);
  });

  it('is told in portions of two hundred clients', async () => {
    await box.apply([box.client('app', 'secret')]);
    await owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, body, owner_cluster, owner_name)
       SELECT 'shop', 'Client', 'c' || n, 1, '{}', 'large', 'shop/c' || n FROM generate_series(1, 405) AS n`,
    );
    const portions: number[] = [];
    const told = new Set<string>();
    for (let next: string | undefined = ''; next !== undefined;) {
      const answer: BoxUsage = await box.management.usage('shop', 'large', next, signal);
      portions.push(answer.clients.length);
      for (const { id } of answer.clients) told.add(id);
      next = answer.next;
    }
    expect(portions).to.deep.equal([200, 200, 5]);
    expect(told.size).to.equal(405);
  });

  it('is told of the clients that the cluster declares only', async () => {
    await box.apply([box.client('app', 'secret')]);
    expect(await usage('another')).to.deep.equal([]);
    expect((await box.management.usage('empty', 'cluster-of-shop', '', signal)).clients).to.deep.equal([]);
  });

  it('knows when a client last got a token, and last used its previous secret', async () => {
    const start = Date.now();
    await box.apply([box.client('app', 'new', { previous: { secret: 'old', until: inAnHour() } })]);
    await box.token('app', 'new');
    await restart();
    const [first] = await usage();
    expect(Date.parse(first?.last_token_at ?? '')).to.be.within(start, Date.now());
    expect(first).not.to.have.property('previous_secret_last_used');
    await box.token('app', 'old');
    await restart();
    expect(Date.parse((await usage())[0]?.previous_secret_last_used ?? '')).to.be.within(start, Date.now());
    const [{ live_sessions, ...lastUse } = { live_sessions: 0 }] = await usage();
    expect(live_sessions).to.equal(2);
    expect(await box.management.lastUses('shop', 'cluster-of-shop', signal)).to.deep.equal({ clients: [lastUse] });
  });

  it('forgets the use of a previous secret with that secret, and all of a client that is deleted', async () => {
    await box.apply([box.client('app', 'new', { previous: { secret: 'old', until: inAnHour() } })]);
    await box.token('app', 'old');
    await restart();
    await box.apply([box.client('app', 'newer', { previous: { secret: 'new', until: inAnHour() } })]);
    expect((await usage())[0])
      .to.include.keys('last_token_at')
      .and.not.include.keys('previous_secret_last_used');
    const { kind, id, owner: declarer } = box.client('app', undefined);
    await box.apply([{ kind, id, owner: declarer, delete: true }]);
    await box.apply([box.client('app', 'newest')]);
    expect(await usage()).to.deep.equal([{ id: 'app', live_sessions: 0 }]);
  });

  it('is not to be had without the key, nor of what is no box', async () => {
    const at = (path: string, key: string) =>
      fetch(`${api.managementUrl}${path}`, { headers: { Authorization: `Bearer ${key}` } });
    expect((await at('/boxes/shop/usage?cluster=c', 'wrong')).status).to.equal(401);
    expect((await at('/boxes/SHOP/usage?cluster=c', api.managementKey)).status).to.equal(400);
    expect((await at('/boxes/shop/usage', api.managementKey)).status).to.equal(400);
    expect((await at('/boxes/shop/usage?cluster=c&after=%00', api.managementKey)).status).to.equal(400);
    expect((await at('/boxes/shop/last-use?cluster=c', 'wrong')).status).to.equal(401);
    expect((await at('/boxes/shop/last-use', api.managementKey)).status).to.equal(400);
  });
});

describe('the notes of usage', () => {
  it('keep the newest of each client, are taken once, and lose nothing that could not be written', () => {
    const notes = createUsageNotes();
    notes.tokenIssued('a', 'x', 1);
    notes.tokenIssued('a', 'x', 2);
    notes.tokenIssued('b', 'x', 3);
    notes.previousSecretUsed('b', 'y', 'hash', 4);
    const taken = notes.take();
    expect(taken).to.deep.equal([
      { box: 'a', client: 'x', token: 2, previous: undefined },
      { box: 'b', client: 'x', token: 3, previous: undefined },
      { box: 'b', client: 'y', token: undefined, previous: { stored: 'hash', at: 4 } },
    ]);
    expect(notes.take()).to.deep.equal([]);
    notes.tokenIssued('a', 'x', 9);
    notes.putBack(taken);
    expect(notes.take()).to.deep.include({ box: 'a', client: 'x', token: 9, previous: undefined }).and.have.length(3);
  });
});
