import { expect } from 'chai';
import pg from 'pg';
import { textOf } from '../../oauth/requests.ts';
import { claimEpoch, startApi, type TestApi } from '../../support/api.ts';
import { unthrottled } from '../../support/unthrottled.ts';
import { declaredBox, type DeclaredBox } from '../declared-box.ts';

const { signal } = new AbortController();

/** Two replicas on one database: one hears of the namespaces, both serve. */
describe('R-51 a box whose namespace is missing', () => {
  let api: TestApi;
  let other: TestApi;
  let owner: pg.Pool;
  let box: DeclaredBox;
  let token = '';
  let boxes = 0;

  before(async () => {
    api = await startApi({ environment: unthrottled });
    other = await startApi({ environment: unthrottled, database: api.database });
    owner = new pg.Pool({ connectionString: api.database.ownerUrl, max: 1 });
  });
  after(async () => {
    await owner.end();
    await other.stop();
    await api.stop();
  });

  const retained = () => ({ ...box.client('kept', 'secret'), retain: true as const });
  const everything = () => {
    const resource = { resourceType: 'AccessPolicy', id: 'all', engine: 'allow', subjects: 'anyone' } as const;
    return { ...box.client('all', ''), kind: 'AccessPolicy' as const, resource };
  };

  beforeEach(async () => {
    boxes += 1;
    box = await declaredBox(api, `gone-${String(boxes)}`);
    box.namespace = { uid: 'old' };
    await box.apply([retained(), everything()]);
    token = textOf(await box.token('kept', 'secret'), 'access_token');
    for (const replica of [api, other]) expect(await answers(replica)).to.deep.equal(served);
  });

  /** Statuses of what a box serves, at a replica. */
  async function answers({ url }: TestApi) {
    const at = `${url}/boxes/${box.box}`;
    const form = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) });
    const client = { client_id: 'kept', client_secret: 'secret' };
    const status = async (path: string, init: RequestInit = {}) => (await fetch(at + path, init)).status;
    return {
      token: await status('/auth/token', form({ grant_type: 'client_credentials', ...client })),
      introspection: await status('/auth/introspect', form({ token, ...client })),
      revocation: await status('/auth/revoke', form({ token: 'bgt_none', ...client })),
      anyone: await status('/Client'),
      bearer: await status('/Session', { headers: { Authorization: `Bearer ${token}` } }),
      metadata: await status('/.well-known/openid-configuration'),
      keys: await status('/.well-known/jwks.json'),
      signIn: await status('/auth/signin'),
    };
  }

  const served = {
    token: 200,
    introspection: 200,
    revocation: 200,
    anyone: 200,
    bearer: 200,
    metadata: 200,
    keys: 200,
    signIn: 200,
  };
  const unknown = Object.fromEntries(Object.keys(served).map((name) => [name, 404]));

  async function goMissing(lines: Parameters<DeclaredBox['apply']>[0] = []): Promise<void> {
    const cluster = `cluster-of-${box.box}`;
    const epoch = await claimEpoch(api.managementUrl, api.managementKey, cluster);
    await box.management.apply(
      { box: box.box, head: { cluster, epoch, complete: false, missing: true }, lines },
      signal,
    );
    box = await declaredBox(api, box.box);
  }

  const rows = async (): Promise<number> =>
    (await owner.query('SELECT FROM boxgate.resource WHERE box = $1', [box.box])).rowCount ?? 0;

  it('answers like an unknown box from the next request on, at every replica; its rows stay', async () => {
    await goMissing();
    expect(await answers(other)).to.deep.equal(unknown);
    expect(await answers(api)).to.deep.equal(unknown);
    const bytes = async (name: string) => (await fetch(`${other.url}/boxes/${name}/auth/token`)).text();
    expect(await bytes(box.box)).to.equal(await bytes('never-was'));
    expect(await rows()).to.equal(2);
  });

  it('is found missing by a replica that has never held it', async () => {
    await goMissing();
    const third = await startApi({ environment: unthrottled, database: api.database });
    try {
      expect(await answers(third)).to.deep.equal(unknown);
    } finally {
      await third.stop();
    }
  });

  it('serves again once its namespace is back, and what was revoked stays revoked', async () => {
    const revoked = textOf(await box.token('kept', 'secret'), 'access_token');
    await fetch(`${api.url}/boxes/${box.box}/Session`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${revoked}` },
    });
    await goMissing();
    box.namespace = { uid: 'old' };
    await box.apply([]);
    for (const replica of [other, api]) expect(await answers(replica)).to.deep.equal(served);
    expect((await box.introspect('kept', 'secret', token)).body['active']).to.equal(true);
    expect((await box.introspect('kept', 'secret', revoked)).body['active']).to.equal(false);
  });

  it('is locked for a namespace with another uid, until an admin has adopted it', async () => {
    await goMissing();
    box.namespace = { uid: 'new' };
    expect(await box.verdicts([])).to.equal('locked old');
    expect(await answers(other)).to.include({ token: 401, anyone: 401, bearer: 401 });
    box.namespace = { uid: 'new', adopt: 'old' };
    await box.apply([]);
    expect(await answers(other)).to.deep.equal(served);
  });

  it('serves again in a cluster that is rebuilt over its database, once its namespace is there', async () => {
    await goMissing();
    const { box: name } = box;
    box = await declaredBox(api, name, `rebuilt-${name}`, `cluster-of-${name}`);
    expect(await answers(other)).to.deep.equal(unknown);
    box.namespace = { uid: 'newest' };
    await box.apply([]);
    expect(await answers(other)).to.deep.equal(served);
  });

  it('is not taken out of service by a cluster that it does not belong to', async () => {
    const cluster = 'a-stranger';
    const epoch = await claimEpoch(api.managementUrl, api.managementKey, cluster);
    const head = { cluster, epoch, complete: false, missing: true } as const;
    await box.management.apply({ box: box.box, head, lines: [] }, signal);
    expect(await answers(other)).to.deep.equal(served);
  });

  it('has no host, and gets it back with its namespace', async () => {
    const cluster = `cluster-of-${box.box}`;
    const host = `${box.box}.test`;
    const put = async () => {
      const epoch = await claimEpoch(api.managementUrl, api.managementKey, cluster);
      const boxes = [{ box: box.box, granted: [host], claimed: [host] }];
      await box.management.putHosts({ cluster, epoch, default_issuers: '', boxes }, signal);
      box = await declaredBox(api, box.box);
      box.namespace = { uid: 'old' };
    };
    const hosts = async () =>
      (await owner.query<{ host: string }>('SELECT host FROM boxgate.box_host WHERE box = $1', [box.box])).rows.map(
        ({ host: one }) => one,
      );
    await put();
    expect(await hosts()).to.deep.equal([host]);
    await goMissing();
    expect(await hosts()).to.deep.equal([]);
    await put();
    expect(await hosts()).to.deep.equal([host]);
  });

  it('loses the rows that its objects took with them', async () => {
    const line = everything();
    await goMissing([{ kind: line.kind, id: line.id, owner: line.owner, delete: true }]);
    expect(await rows()).to.equal(1);
  });

  it('is listed as missing, so that somebody looks for its namespace', async () => {
    const listed = async () =>
      (await box.management.declaredBoxes(`cluster-of-${box.box}`, signal)).filter(({ missing }) => missing === true);
    expect(await listed()).to.deep.equal([]);
    await goMissing();
    expect(await listed()).to.deep.equal([{ box: box.box, resources: 0, missing: true }]);
  });
});
