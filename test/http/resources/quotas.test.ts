import { expect } from 'chai';
import pg from 'pg';
import type { Quota } from '../../../crds/quota.ts';
import { startBoxApi } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';

/** Counts the rows themselves. */
const ofRows = `
  SELECT (SELECT count(*) FROM boxgate.resource WHERE box = 'default' AND kind = 'Client') AS clients,
  (SELECT count(*) FROM boxgate.resource WHERE box = 'default' AND kind = 'AccessPolicy') AS policies,
  (SELECT count(*) FROM boxgate.user WHERE box = 'default') AS users,
  (SELECT count(*) FROM boxgate.group WHERE box = 'default') AS groups,
  (SELECT coalesce(sum(octet_length(body::text)), 0) FROM boxgate.resource WHERE box = 'default')
  + (SELECT coalesce(sum(octet_length(name || coalesce(description, ''))), 0)
       FROM boxgate.group WHERE box = 'default') AS bytes`;

describe('quotas of a box', () => {
  let api: BoxApi;
  let owner: pg.Pool;

  before(async () => {
    api = await startBoxApi();
    owner = new pg.Pool({ connectionString: api.database.ownerUrl, max: 1 });
  });
  after(async () => {
    await owner.end();
    await api.stop();
  });
  beforeEach(async () => {
    await quota({});
    await owner.query(
      `DELETE FROM boxgate.resource WHERE box = 'default' AND id <> 'admin';
       DELETE FROM boxgate.user; DELETE FROM boxgate.group; DELETE FROM boxgate.last_id;
       UPDATE boxgate.box_use SET (clients, policies, users, groups, bytes) = (${ofRows}) WHERE box = 'default'`,
    );
  });

  const machine = { grant_types: ['client_credentials'], secret: 'a-chosen-secret' };
  const quota = (limits: Partial<Quota>) => api.declareWithin('default', limits, []);
  const putClient = (id: string, fields: object = {}): Promise<Reply> =>
    api.call('PUT', `/Client/${id}`, { body: { ...machine, ...fields } });

  async function use(): Promise<Readonly<Record<string, string>>> {
    const { rows } = await owner.query<Record<string, string>>(
      `SELECT clients, policies, users, groups, bytes FROM boxgate.box_use WHERE box = 'default'`,
    );
    return rows[0] ?? {};
  }

  async function counted(): Promise<Readonly<Record<string, string>>> {
    const { rows } = await owner.query<Record<string, string>>(ofRows);
    return rows[0] ?? {};
  }

  const creations = {
    clients: (name: string) => putClient(name),
    policies: (name: string) => api.call('PUT', `/AccessPolicy/${name}`, { body: { engine: 'allow' } }),
    groups: (name: string) => api.call('POST', '/Group', { body: { name } }),
    users: (name: string) =>
      api.call('POST', '/users', { body: { email: `${name}@mail.example`, password: 'correct horse' } }),
  } as const;

  for (const [name, create] of Object.entries(creations)) {
    it(`R-53 refuses one more of ${name} than the quota, says how to change it, and keeps what exists`, async () => {
      expect((await create('one')).status).to.equal(201);
      await quota({ [name]: Number((await use())[name]) + 1 });
      expect((await create('two')).status).to.equal(201);
      const refused = await create('three');
      expect(refused.status).to.equal(422);
      expect(refused.text).to.contain('quota').and.contain(`\`${name}\``).and.contain('boxgate.dev/quota');
      await quota({ [name]: 0 });
      const deleted = name === 'clients' ? await api.call('DELETE', '/Client/one') : undefined;
      expect([undefined, 200]).to.include(deleted?.status);
      expect((await create('three')).status).to.equal(422);
      await quota({});
      expect((await create('three')).status).to.equal(201);
      expect(await use()).to.deep.equal(await counted());
    });
  }

  it('R-53 refuses what makes the stored configuration larger than its quota, and takes what makes it smaller', async () => {
    expect((await putClient('large', { details: { text: 'x'.repeat(6_000) } })).status).to.equal(201);
    await quota({ bytes: 8_000 });
    expect((await putClient('another', { details: { text: 'x'.repeat(6_000) } })).status).to.equal(422);
    const patch = { details: { text: 'x'.repeat(8_100) } };
    const type = 'application/merge-patch+json';
    const grown = await api.call('PATCH', '/Client/large', { body: JSON.stringify(patch), type });
    expect([grown.status, grown.text.includes('bytes of stored configuration')]).to.deep.equal([422, true]);
    await quota({ bytes: 1 });
    expect((await putClient('large', { details: { text: 'x'.repeat(3_000) } })).status).to.equal(200);
    expect((await putClient('large', { details: { text: 'x'.repeat(3_001) } })).status).to.equal(422);
    expect(await use()).to.deep.equal(await counted());
  });

  it('R-53 counts the digits that Postgres writes, not those that were sent', async () => {
    await quota({ bytes: 50_000 });
    const numbers = Array.from({ length: 1_000 }, () => 1e300);
    expect((await putClient('numbers', { details: { numbers } })).status).to.equal(422);
    const declared = [{ kind: 'Client', id: 'numbers', ...machine, details: { numbers } }] as const;
    const [result] = await api.declareWithin('default', { bytes: 50_000 }, declared);
    expect(result).to.deep.include({ result: 'invalid', quota: 'bytes' });
  });

  it('R-53 applies what fits of a call and refuses the later lines, each with the name of the quota', async () => {
    const clients = ['a', 'b', 'c'].map((id) => ({ kind: 'Client', id, ...machine }) as const);
    const policy = { kind: 'AccessPolicy', id: 'last', engine: 'allow' } as const;
    const results = await api.declareWithin('default', { clients: 3 }, [...clients, policy]);
    expect(results.map(({ id, result, quota: name }) => [id, result, name])).to.deep.equal([
      ['a', 'created', undefined],
      ['b', 'created', undefined],
      ['c', 'invalid', 'clients'],
      ['last', 'created', undefined],
    ]);
    expect(await use()).to.deep.equal(await counted());
    const [again] = await api.declareWithin('default', {}, clients.slice(2));
    expect(again).to.include({ id: 'c', result: 'created' });
  });

  it('R-53 does not let a call exceed the bytes that were left, and applies the rest of it', async () => {
    const details = { text: 'x'.repeat(5_000) };
    const clients = ['a', 'b', 'c'].map((id) => ({ kind: 'Client', id, ...machine, details }) as const);
    const results = await api.declareWithin('default', { bytes: 12_500 }, clients);
    expect(results.map(({ result }) => result)).to.deep.equal(['created', 'created', 'invalid']);
    expect(Number((await use())['bytes'])).to.be.below(12_500);
  });

  it('R-53 keeps the counts through upserts, deletions and a purge of the box', async () => {
    for (const create of Object.values(creations)) await create('one');
    await putClient('one', { description: 'changed' });
    await api.call('PUT', '/Group/1', { body: { name: 'other', description: 'longer than before' } });
    expect(await use()).to.deep.equal(await counted());
    await api.call('DELETE', '/Client/one');
    await api.call('DELETE', '/AccessPolicy/one');
    await api.call('DELETE', '/users/1');
    await api.call('DELETE', '/Group/1');
    expect(await use()).to.deep.equal(await counted());
    expect(await use()).to.include({ users: '0', groups: '0', clients: '1' });
  });

  it('R-53 refuses details of more than 8 KiB, and a resource of more than 32 KiB, over REST and in a call', async () => {
    const details = { text: 'x'.repeat(8_192) };
    const refused = await putClient('one', { details });
    expect([refused.status, refused.text.includes('details')]).to.deep.equal([422, true]);
    expect((await putClient('one', { details: { text: 'x'.repeat(8_181) } })).status).to.equal(201);
    const policy = { engine: 'matcho', matcho: { uri: 'x'.repeat(32_768) } };
    expect((await api.call('PUT', '/AccessPolicy/one', { body: policy })).status).to.equal(422);
    const [client, large] = await api.declareWithin('default', {}, [
      { kind: 'Client', id: 'two', ...machine, details },
      { kind: 'AccessPolicy', id: 'two', ...policy },
    ]);
    expect([client?.result, large?.result]).to.deep.equal(['invalid', 'invalid']);
    expect(client?.faults?.[0]?.path).to.equal('details');
  });
});
