import { expect } from 'chai';
import pg from 'pg';
import type { BoxHosts, StoredHosts } from '../../../api/client/cluster.ts';
import type { ApplyResult } from '../../../api/client/desired-state.ts';
import { createManagement } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import { claimEpoch, startApi, type TestApi } from '../../support/api.ts';
import { sendRequest } from '../raw-http.ts';

const { signal } = new AbortController();
const publicUrl = 'https://auth.example';

describe('R-B2 the hosts of boxes', () => {
  let api: TestApi;
  let owner: pg.Pool;
  before(async () => {
    api = await startApi({ environment: { BOXGATE_PUBLIC_URL: publicUrl } });
    owner = new pg.Pool({ connectionString: api.database.ownerUrl, max: 1 });
  });
  after(async () => {
    await owner.end();
    await api.stop();
  });

  const management = () => createManagement({ url: api.managementUrl, key: new Secret(api.managementKey) });

  /** A cluster, which assigns hosts and applies Boxes under its own epoch. */
  async function cluster(name: string) {
    const epoch = await claimEpoch(api.managementUrl, api.managementKey, name);
    return {
      epoch,
      hosts: (...boxes: readonly BoxHosts[]): Promise<StoredHosts> =>
        management().putHosts({ cluster: name, epoch, default_issuers: `${publicUrl}/boxes/`, boxes }, signal),
      settings: async (box: string, fields: object, digest = 'd'): Promise<ApplyResult | undefined> => {
        const head = { cluster: name, epoch, complete: false, namespace: { uid: `of-${box}` } };
        const resource = { resourceType: 'Box', id: box, ...fields } as const;
        const line = { kind: 'Box', id: box, owner: { name: `${box}/box`, uid: 'u' }, digest, resource } as const;
        return (await management().apply({ box, head, lines: [line] }, signal))[0];
      },
      isIntact: async (box: string, digest = 'd'): Promise<string | undefined> => {
        const head = { cluster: name, epoch, complete: false, namespace: { uid: `of-${box}` } };
        const line = { kind: 'Box', id: box, owner: { name: `${box}/box`, uid: 'u' }, digest } as const;
        return (await management().apply({ box, head, lines: [line] }, signal))[0]?.result;
      },
    };
  }

  const has = (box: string, ...claimed: readonly string[]): BoxHosts => ({ box, granted: claimed, claimed });

  async function issuerAt(host: string, path = ''): Promise<string> {
    const target = `${path}/.well-known/oauth-authorization-server`;
    const { status, text } = await sendRequest(api.url, { method: 'GET', target, headers: [['Host', host]] });
    return status === 200 ? String(/"issuer":"([^"]*)"/.exec(text)?.[1]) : String(status);
  }

  it('pass from one box to another in one call, with the issuer, whatever the first one declares', async () => {
    const { hosts, settings } = await cluster('passes');
    await hosts(has('old', 'p.test'), has('new'));
    for (const box of ['old', 'new'])
      await settings(box, { hosts: ['p.test'], issuer: 'https://p.test', sign_in: { title: box } });
    expect(await issuerAt('p.test')).to.equal('https://p.test');
    expect(await issuerAt('auth.example', '/boxes/new')).to.equal(`${publicUrl}/boxes/new`);
    const { changed } = await hosts(has('old'), has('new', 'p.test'));
    expect(changed).to.have.members(['old', 'new']);
    expect(await issuerAt('auth.example', '/boxes/old')).to.equal(`${publicUrl}/boxes/old`);
    expect(await issuerAt('p.test'), 'its settings do not name it yet').to.equal('404');
    expect(await settings('new', { hosts: ['p.test'], issuer: 'https://p.test' })).to.include({ result: 'updated' });
    expect(await issuerAt('p.test')).to.equal('https://p.test');
    expect((await hosts(has('old'), has('new', 'p.test'))).changed).to.deep.equal([]);
  });

  it('are left out of settings that name others, which says so, and the rest of the settings counts', async () => {
    const { hosts, settings, isIntact } = await cluster('partial');
    await hosts(has('has-one', 'one.test'), has('has-two', 'two.test'));
    const fields = {
      hosts: ['one.test', 'two.test'],
      issuer: 'https://two.test',
      tokens: { max_sessions_per_client: 7 },
    };
    expect(await settings('has-one', fields)).to.deep.include({
      result: 'created',
      faults: [{ path: 'hosts', message: 'two.test is not assigned to this box' }],
    });
    const { rows } = await owner.query<{ body: object }>(`SELECT body FROM boxgate.resource WHERE box = 'has-one'`);
    const { issuer: _, ...rest } = fields;
    expect(rows).to.deep.equal([{ body: { resourceType: 'Box', id: 'has-one', ...rest, hosts: ['one.test'] } }]);
    expect(await isIntact('has-one'), 'it is to be sent again').to.equal('needed');
  });

  it('stay with a box that does not claim them now, until another one does', async () => {
    const { hosts, settings } = await cluster('unclaimed');
    await hosts(has('keeps', 'k.test'));
    await settings('keeps', { hosts: ['k.test'], issuer: 'https://k.test' });
    const silent = { box: 'keeps', granted: ['k.test'], claimed: [] };
    expect((await hosts(silent)).changed).to.deep.equal([]);
    expect(await issuerAt('k.test')).to.equal('https://k.test');
    expect((await hosts(silent, has('takes', 'k.test'))).changed).to.have.members(['keeps', 'takes']);
    expect(await issuerAt('k.test')).to.equal('404');
  });

  it('stay with a box that the call does not name, and the answer names it', async () => {
    const { hosts, settings } = await cluster('unnamed');
    await hosts(has('silent', 's.test'));
    await settings('silent', { hosts: ['s.test'] });
    expect(await hosts()).to.deep.equal({ changed: [], refused: [], unnamed: ['silent'] });
    expect(await issuerAt('s.test')).to.contain('/boxes/silent');
  });

  it('are never taken from a box of another cluster, which the answer says', async () => {
    const [one, other] = [await cluster('first-cluster'), await cluster('second-cluster')];
    await one.hosts(has('theirs', 't.test'));
    await one.settings('theirs', { hosts: ['t.test'] });
    expect((await other.hosts(has('mine', 't.test'))).refused).to.deep.equal([{ box: 'mine', host: 't.test' }]);
    expect(await issuerAt('t.test')).to.contain('/boxes/theirs');
    await one.hosts(has('theirs'));
    expect((await other.hosts(has('mine', 't.test'))).refused).to.deep.equal([]);
  });

  it('are assigned to one box by the database itself', async () => {
    const { hosts } = await cluster('constraint');
    await hosts(has('holder', 'c.test'));
    const insert = `INSERT INTO boxgate.box_host (host, box, cluster) VALUES ('c.test', 'holder', 'x')`;
    const refused = await owner.query(insert).catch((error: unknown) => error);
    expect(refused).to.include({ code: '23505' });
  });

  it('are not changed under an older epoch', async () => {
    const older = await cluster('fenced');
    await older.hosts(has('fenced', 'f.test'));
    await claimEpoch(api.managementUrl, api.managementKey, 'fenced');
    expect(await older.hosts(has('fenced')).catch((error: unknown) => error)).to.include({ code: 'fenced' });
  });

  it('are claimed by the Box itself where there are no namespaces: the first one has them until it lets go', async () => {
    const first = await api.declare('folder-one', [{ kind: 'Box', id: 'folder-one', hosts: ['folder.test'] }]);
    expect(first[0]?.faults).to.equal(undefined);
    const declareOther = () => api.declare('folder-two', [{ kind: 'Box', id: 'folder-two', hosts: ['folder.test'] }]);
    expect((await declareOther())[0]?.faults).to.deep.equal([
      { path: 'hosts', message: 'folder.test belongs to another box' },
    ]);
    expect(await issuerAt('folder.test')).to.contain('/boxes/folder-one');
    await api.remove('folder-one', [{ kind: 'Box', id: 'folder-one' }]);
    expect((await declareOther())[0]?.faults).to.equal(undefined);
    expect(await issuerAt('folder.test')).to.contain('/boxes/folder-two');
  });

  for (const [what, body] of [
    ['no boxes', { cluster: 'bad', epoch: 1, default_issuers: '' }],
    ['a name that is no host', { cluster: 'bad', epoch: 1, default_issuers: '', boxes: [has('box', 'A b')] }],
    ['a name that is no box', { cluster: 'bad', epoch: 1, default_issuers: '', boxes: [has('Box!')] }],
  ] as const) {
    it(`refuses a call with ${what}`, async () => {
      const headers = { Authorization: `Bearer ${api.managementKey}`, 'Content-Type': 'application/json' };
      const put = { method: 'PUT', headers, body: JSON.stringify(body) };
      expect((await fetch(`${api.managementUrl}/hosts`, put)).status).to.equal(400);
    });
  }
});
