import { expect } from 'chai';
import pg from 'pg';
import { textOf } from '../../oauth/requests.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { compare, declaredBox } from '../declared-box.ts';
import type { DeclaredBox } from '../declared-box.ts';

const environment = { BOXGATE_FAILURES_PER_CLIENT: '1000000', BOXGATE_FAILURES_PER_BOX: '1000000' };

/** Two replicas on one database: one hears of the namespaces, both serve. */
describe('P-14 a box whose namespace was created again', () => {
  let api: TestApi;
  let other: TestApi;
  let owner: pg.Pool;
  let box: DeclaredBox;
  let there: DeclaredBox;
  let token = '';
  let refreshToken = '';
  let boxes = 0;

  before(async () => {
    api = await startApi({ environment });
    other = await startApi({ environment, database: api.database });
    owner = new pg.Pool({ connectionString: api.database.ownerUrl });
  });
  after(async () => {
    await owner.end();
    await other.stop();
    await api.stop();
  });

  const refreshing = { auth: { client_credentials: { refresh_token: true, token_format: 'jwt' } } };
  const app = (uid = 'uid-of-app') =>
    box.client('app', 'secret', { owner: { name: `${box.box}/app`, uid }, digest: `d-${uid}` }, refreshing);
  const everything = () => ({
    ...box.client('everything', ''),
    kind: 'AccessPolicy' as const,
    resource: {
      resourceType: 'AccessPolicy' as const,
      id: 'everything',
      engine: 'allow' as const,
      subjects: 'anyone' as const,
    },
  });

  beforeEach(async () => {
    boxes += 1;
    const name = `shop-${String(boxes)}`;
    box = await declaredBox(api, name);
    there = await declaredBox(other, name, 'only-looks');
    box.namespace = { uid: 'old' };
    await box.apply([app(), everything()]);
    const answer = (await box.token('app', 'secret')).body;
    token = String(answer['access_token']);
    refreshToken = String(answer['refresh_token']);
    expect(await serves(box)).to.deep.equal({ token: 200, live: true, anyone: 200, keys: 1, refresh: 200 });
    expect(await serves(there)).to.include({ token: 200, live: true });
  });

  /** Returns the box's answers to the old tenant. */
  async function serves({ box: name, ...at }: DeclaredBox) {
    const base = `${at.management === box.management ? api.url : other.url}/boxes/${name}`;
    const live = (await at.introspect('app', 'secret', token)).body['active'];
    const refresh = await fetch(`${base}/auth/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ grant_type: 'refresh_token', client_id: 'app', refresh_token: refreshToken }),
    });
    const keys: unknown = await (await fetch(`${base}/.well-known/jwks.json`)).json();
    return {
      token: (await at.token('app', 'secret')).status,
      live: live === true,
      anyone: (await fetch(`${base}/Client`)).status,
      keys:
        typeof keys === 'object' && keys !== null && 'keys' in keys && Array.isArray(keys.keys) ? keys.keys.length : -1,
      refresh: refresh.status,
    };
  }

  const nothing = { token: 401, live: false, anyone: 401, keys: 0, refresh: 400 };

  it('is refused to the new one, and serves nothing from that moment on, on every replica', async () => {
    box.namespace = { uid: 'new' };
    expect(await box.verdicts([app('new-app')])).to.equal('locked old');
    expect(await serves(there)).to.deep.equal(nothing);
    expect(await serves(box)).to.deep.equal(nothing);
  });

  it('stays locked whoever calls, and nothing of it changes', async () => {
    box.namespace = { uid: 'new' };
    await box.verdicts([app('new-app')]);
    const before = await dump();
    for (const namespace of [{ uid: 'new' }, { uid: 'old' }, { uid: 'third', adopt: 'new' }, undefined]) {
      box.namespace = namespace;
      expect(await box.verdicts([app('new-app')], true)).to.equal('locked old');
    }
    expect(await dump()).to.deep.equal(before);
    expect(await serves(box)).to.deep.equal(nothing);
  });

  it('is open again with everything that was there, once an admin has adopted it', async () => {
    box.namespace = { uid: 'new' };
    await box.verdicts([app('new-app')]);
    box.namespace = { uid: 'new', adopt: 'old' };
    expect(await box.verdicts([compare(app('new-app')), compare(everything())], true)).to.equal('needed needed');
    expect(await serves(box)).to.deep.equal({ token: 200, live: true, anyone: 200, keys: 1, refresh: 200 });
    // The objects have other uids now: that is no other owner.
    expect(await box.verdicts([app('new-app'), everything()])).to.equal('updated updated');
    expect(await serves(there)).to.deep.equal({ token: 200, live: true, anyone: 200, keys: 1, refresh: 200 });
    expect(await box.verdicts([compare(app('new-app'))], true)).to.equal('unchanged undeclared');
  });

  it('is adopted and declared in one call, also by the very objects that were there', async () => {
    box.namespace = { uid: 'new' };
    await box.verdicts([app()]);
    box.namespace = { uid: 'new', adopt: 'old' };
    expect(await box.verdicts([app(), everything()])).to.equal('updated updated');
    expect(await serves(there)).to.deep.equal({ token: 200, live: true, anyone: 200, keys: 1, refresh: 200 });
  });

  it('starts again without anything that was there, once an admin has discarded it', async () => {
    box.namespace = { uid: 'new' };
    await box.verdicts([app('new-app')]);
    box.namespace = { uid: 'new', discard: 'old' };
    expect(await box.verdicts([app('new-app')])).to.equal('created');
    // The one key is new: the client's first token needs it.
    expect(await serves(box)).to.deep.equal({ ...nothing, token: 200, keys: 1 });
    expect(await serves(there)).to.include({ token: 200, live: false, keys: 1 });
    const { rows } = await owner.query<{ families: string }>(
      'SELECT count(*) AS families FROM boxgate.refresh_family WHERE box = $1 AND version < (SELECT records_from FROM boxgate.box WHERE box = $1)',
      [box.box],
    );
    expect(rows).to.deep.equal([{ families: '0' }]);
  });

  it('shows the new tenant no record of a session of the old one', async () => {
    box.namespace = { uid: 'new', discard: 'old' };
    await box.apply([app('new-app'), everything()]);
    const base = `${api.url}/boxes/${box.box}`;
    const own = textOf(await box.token('app', 'secret'), 'access_token');
    const found = await (
      await fetch(`${base}/Session?_total=accurate`, { headers: { Authorization: `Bearer ${own}` } })
    ).json();
    expect(found).to.include({ total: 1 });
    const { rows } = await owner.query<{ id: string }>(
      'SELECT id FROM boxgate.session WHERE box = $1 AND version < (SELECT records_from FROM boxgate.box WHERE box = $1)',
      [box.box],
    );
    expect(rows).to.not.be.empty;
    const old = await fetch(`${base}/Session/${rows[0]?.id ?? ''}`, { headers: { Authorization: `Bearer ${own}` } });
    expect(old.status).to.equal(404);
  });

  it('forgets an annotation that has done its work', async () => {
    box.namespace = { uid: 'new', discard: 'old' };
    await box.apply([app('new-app')]);
    const own = textOf(await box.token('app', 'secret'), 'access_token');
    expect(await box.verdicts([compare(app('new-app'))], true)).to.equal('unchanged');
    expect((await box.introspect('app', 'secret', own)).body['active']).to.equal(true);
  });

  it('is not locked by a namespace of that name in another cluster', async () => {
    const stranger = await declaredBox(api, box.box, 'another-cluster');
    stranger.namespace = { uid: 'new' };
    expect(await stranger.verdicts([])).to.equal('locked old');
    expect(await serves(box)).to.include({ token: 200, live: true });
  });

  it('is adopted with all others by a cluster that is rebuilt over its database', async () => {
    box.namespace = { uid: 'new' };
    await box.verdicts([app('new-app')]);
    const old = box;
    box = await declaredBox(api, old.box, `rebuilt-${old.box}`, `cluster-of-${old.box}`);
    box.namespace = { uid: 'newest' };
    expect(await box.verdicts([compare(app('newest-app'))], true)).to.equal('needed undeclared');
    expect(await box.verdicts([app('newest-app')])).to.equal('updated');
    expect(await serves(box)).to.include({ token: 200, live: true, refresh: 200 });
    const fenced = await old.verdicts([]).catch((error: unknown) => error);
    expect(fenced).to.include({ code: 'fenced' });
  });

  /** All that the box holds, but for sessions: those were not asked for. */
  async function dump(): Promise<unknown> {
    const tables = ['box', 'resource', 'signing_key', 'refresh_family', 'tombstone', 'box_version'];
    const found = tables.map(async (table) => {
      const { rows } = await owner.query<{ row: unknown }>(
        `SELECT to_jsonb(t) AS row FROM boxgate.${table} t WHERE box = $1 ORDER BY to_jsonb(t)::text`,
        [box.box],
      );
      return [table, rows.map(({ row }) => row)];
    });
    return Object.fromEntries(await Promise.all(found));
  }
});
