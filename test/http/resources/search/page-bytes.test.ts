import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { ownerQuery } from '../../../support/owner-query.ts';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';

const mebibyte = 1_048_576;

describe('a page of large rows', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  it('R-53 ends early with a link to the next one, and the pages together show every client once', async () => {
    // From before there was a limit for one of them.
    await ownerQuery(
      api,
      `INSERT INTO boxgate.resource (box, kind, id, version, body)
       SELECT 'default', 'Client', id, 1,
              jsonb_build_object('resourceType', 'Client', 'id', id, 'details', jsonb_build_object('text', repeat('x', $1)))
         FROM (SELECT 'large-' || lpad(n::text, 2, '0') AS id FROM generate_series(0, 11) AS n) AS ids`,
      [Math.floor(0.6 * mebibyte)],
    );
    const seen: string[] = [];
    let pages = 0;
    for (let next: string | undefined = '/Client?_count=1000'; next !== undefined; pages += 1) {
      const { text, body } = await api.call('GET', next);
      expect(text.length).to.be.below(6 * mebibyte);
      seen.push(...entriesOf(body));
      next = linkOf(body, 'next');
    }
    expect(pages).to.be.at.least(2);
    expect(seen.filter((id) => id.startsWith('large-'))).to.have.lengthOf(12);
    expect(new Set(seen).size).to.equal(seen.length);
  });

  it('R-53 ends early from the end of the list too', async () => {
    const last = await api.call('GET', '/Client?_count=1000&_page=last');
    expect(last.text.length).to.be.below(6 * mebibyte);
    expect(entriesOf(last.body).at(-1)).to.equal('large-11');
    expect(linkOf(last.body, 'previous')).to.not.equal(undefined);
  });

  it('R-53 ends early in the list of users', async () => {
    await ownerQuery(
      api,
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper, data)
       SELECT 'default', n, n || '@mail.example', n || '@mail.example', 'x', 'x', to_jsonb(repeat('x', $1))::text
         FROM generate_series(1, 9) AS n`,
      [Math.floor(0.6 * mebibyte)],
    );
    const { text, headers } = await api.call('GET', '/users?_count=1000');
    expect(text.length).to.be.below(6 * mebibyte);
    expect(headers.get('link')).to.contain('rel="next"');
    expect(headers.get('x-total-count')).to.equal('9');
  });

  it('R-53 ends early in the list of sessions, and the pages together show every session once', async () => {
    // A header may be this long, and so may a scope.
    await ownerQuery(
      api,
      `INSERT INTO boxgate.session (box, id, bucket, version, type, client, expires_at, user_agent, scope, audience)
       SELECT 'default', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, bucket, 1, 'a', 'large', now() + interval '1 day',
              repeat('u', 6000), repeat('s', 6000), ARRAY[repeat('a', 3000)]
         FROM generate_series(1, 700) AS n, (SELECT (extract(epoch FROM now()) / 86400)::int + 1 AS bucket) AS b`,
      [],
    );
    for (const sort of ['created_at', '-created_at']) {
      const seen: string[] = [];
      let pages = 0;
      const first = `/Session?_count=1000&client=large&_sort=${sort}`;
      for (let next: string | undefined = first; next !== undefined; pages += 1) {
        const { status, text, body } = await api.call('GET', next);
        expect(status, text.slice(0, 200)).to.equal(200);
        expect(text.length).to.be.below(6 * mebibyte);
        seen.push(...entriesOf(body));
        next = linkOf(body, 'next');
      }
      expect(pages).to.be.at.least(3);
      expect([seen.length, new Set(seen).size]).to.deep.equal([700, 700]);
    }
    const last = await api.call('GET', '/Session?_count=1000&client=large&_sort=created_at&_page=last');
    expect(last.text.length).to.be.below(6 * mebibyte);
    expect(entriesOf(last.body).at(-1)).to.equal('00000000-0000-7000-8000-000000000700');
    expect(linkOf(last.body, 'previous')).to.not.equal(undefined);
  });

  function entriesOf(body: unknown): readonly string[] {
    const entries = isObject(body) && Array.isArray(body['entry']) ? body['entry'] : [];
    return entries.map((entry: unknown) => String(Reflect.get(Object(Reflect.get(Object(entry), 'resource')), 'id')));
  }

  function linkOf(body: unknown, relation: string): string | undefined {
    const links = isObject(body) && Array.isArray(body['link']) ? body['link'] : [];
    const url: unknown = Reflect.get(
      Object(links.find((link: unknown) => Reflect.get(Object(link), 'relation') === relation)),
      'url',
    );
    return typeof url === 'string' ? url.slice(url.search(/\/(Client|Session)\?/)) : undefined;
  }
});
