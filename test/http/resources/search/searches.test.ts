import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import pg from 'pg';
import { complaints, entries, linkOf, sentences, startBoxApi } from '../box-api.ts';
import type { BoxApi, Reply } from '../box-api.ts';

describe('searches over REST', () => {
  let api: BoxApi;
  let count = 0;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  /** A new client with one session. */
  async function issue(): Promise<{ readonly client: string }> {
    count += 1;
    const client = `app-${String(count)}`;
    await api.call('PUT', `/Client/${client}`, { body: { grant_types: ['client_credentials'], secret: 'x' } });
    await api.requestToken(client, 'x');
    return { client };
  }

  it('follows the pages to the end and back, on the issuer', async () => {
    const { client } = await issue();
    for (let round = 0; round < 4; round += 1) await api.requestToken(client, 'x');
    const seen: unknown[] = [];
    let path: string | undefined = `/Session?client=${client}&_count=2`;
    let last = '';
    while (path !== undefined) {
      const reply: Reply = await api.call('GET', path);
      expect(reply.body).to.have.property('total', 5);
      seen.push(...entries(reply).map(({ id }) => id));
      last = linkOf(reply, 'last') ?? '';
      path = linkOf(reply, 'next');
    }
    expect(new Set(seen).size).to.equal(5);
    const end = await api.call('GET', last);
    expect(entries(end).map(({ id }) => id)).to.deep.equal(seen.slice(4));
    const middle = await api.call('GET', linkOf(end, 'previous') ?? '');
    expect(entries(middle).map(({ id }) => id)).to.deep.equal(seen.slice(2, 4));
    const numbered = await api.call('GET', `/Session?client=${client}&_count=2&_page=2`);
    expect(entries(numbered).map(({ id }) => id)).to.deep.equal(seen.slice(2, 4));
  });

  it('answers with an array when asked, its links in a header', async () => {
    const { client } = await issue();
    await api.requestToken(client, 'x');
    const reply = await api.call('GET', `/Session?client=${client}&_result=array&_count=1&_elements=status`);
    expect(reply.body).to.be.an('array').with.length(1);
    expect(reply.headers.get('x-total-count')).to.equal('2');
    expect(reply.headers.get('link')).to.match(/<http:\/\/boxgate\.test\/boxes\/default\/Session\?[^>]*>; rel="next"/);
    const [first] = Array.isArray(reply.body) ? reply.body.filter(isObject) : [];
    expect(Object.keys(first ?? {})).to.deep.equal(['resourceType', 'id', 'status']);
  });

  it('X-15 says what to leave out when all that is found cannot be counted in time', async () => {
    await issue();
    const owner = new pg.Pool({ connectionString: api.database.ownerUrl, max: 1 });
    try {
      // Each row that a search looks at takes a second.
      await owner.query(
        `CREATE POLICY slow ON boxgate.session AS RESTRICTIVE FOR SELECT USING (pg_sleep(1)::text = '')`,
      );
      const count = () => api.call('GET', '/Session?_total=accurate&_count=1');
      let reply = await count();
      // A machine that stalls may need the whole time of the request before Postgres gives up the count.
      for (let tries = 1; tries < 10 && complaints(reply)[0] !== '_total'; tries += 1) reply = await count();
      expect(reply.status).to.equal(503);
      expect(Number(reply.headers.get('retry-after'))).to.be.greaterThan(0);
      expect(complaints(reply)).to.deep.equal(['_total']);
      expect(sentences(reply).join()).to.match(/accurate takes longer here than a request may: narrow the search/);
    } finally {
      await owner.query('DROP POLICY IF EXISTS slow ON boxgate.session');
      await owner.end();
    }
    const counted = await api.call('GET', '/Session?_total=accurate&_count=1');
    expect(counted.body).to.have.property('total').that.is.greaterThan(0);
  });

  it('takes a date twice for a range', async () => {
    const { client } = await issue();
    const created = String(entries(await api.call('GET', `/Session?client=${client}`))[0]?.['created_at']);
    const found = async (query: string) => entries(await api.call('GET', `/Session?client=${client}&${query}`)).length;
    expect(await found(`created_at=${created}`)).to.equal(1);
    expect(await found(`created_at=ge${created}&created_at=le${created}`)).to.equal(1);
    expect(await found(`created_at=gt${created}`)).to.equal(0);
    expect(await found(`created_at=ge2020-01-01&created_at=lt2020-02-01`)).to.equal(0);
    expect(await found(`expires_at=gt${created}&status=active`)).to.equal(1);
  });

  const harmful = ["' OR '1'='1", "'; SELECT pg_sleep(10) --", '1) UNION SELECT', '%', '\\', '$1', '"', "a'||'b", '{}'];
  const harmless = 'harmless';
  for (const kind of ['Client', 'AccessPolicy', 'Session']) {
    const names = [
      'id',
      'name',
      'client',
      'user',
      'type',
      'status',
      'engine',
      'subjects',
      'link',
      'active',
      'grant_types',
      'created_at',
      'expires_at',
      '_sort',
      '_page',
      '_count',
      '_elements',
      '_total',
      '_result',
      'unknown',
    ];
    it(`X-17: takes SQL in any parameter of ${kind} as any other text`, async () => {
      for (const name of names) {
        const expected = answerOf(await api.call('GET', `/${kind}?${name}=${harmless}`));
        for (const text of harmful) {
          const reply = await api.call('GET', `/${kind}?${name}=${encodeURIComponent(text)}`);
          expect(answerOf(reply), `${name}=${text}`).to.deep.equal(expected);
        }
      }
    });
  }

  it('X-06, X-08: refuses what is repeated and what is no text', async () => {
    for (const query of ['client=a&client=b', 'client=%00', 'client=%ff', 'client=%ed%a0%80', 'client=']) {
      const reply = await api.call('GET', `/Session?${query}`);
      expect([reply.status, complaints(reply)], query).to.deep.equal([400, ['client']]);
    }
  });

  it('X-17: no SQL text ever holds a value of a request', async () => {
    const owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
    try {
      await api.call('GET', `/Session?client=${encodeURIComponent("canary'x")}&status=active`);
      const { rows } = await owner.query<{ query: string }>(
        `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND usename = 'boxgate_api'`,
      );
      expect(rows.map(({ query }) => query).join('\n')).to.not.include('canary');
    } finally {
      await owner.end();
    }
  });

  /** Everything of an answer but what is the search's own address. */
  function answerOf(reply: Reply): unknown {
    const entry: unknown =
      typeof reply.body === 'object' && reply.body !== null ? Reflect.get(reply.body, 'entry') : undefined;
    return [reply.status, complaints(reply), entry];
  }

  it('R-48 refuses a word that is not in a closed list, in every filter', async () => {
    const filters = [
      '/Client?grant_types=x',
      '/Client?active=x',
      '/AccessPolicy?engine=x',
      '/AccessPolicy?subjects=x',
      '/Session?type=x',
      '/Session?status=x',
      '/users?status=x',
      '/AccessPolicy?link=Box/x',
    ];
    for (const path of filters) {
      const reply = await api.call('GET', path);
      expect(reply.status, path).to.equal(400);
      expect(sentences(reply)[0], path).to.match(/^[\w-]+ must be one of /);
      expect(complaints(reply), path).to.deep.equal([/\?([\w-]+)=/.exec(path)?.[1]]);
    }
  });
});
