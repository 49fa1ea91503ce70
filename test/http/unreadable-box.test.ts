import { expect } from 'chai';
import { sendJson } from '../oauth/requests.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { ownerQuery } from '../support/owner-query.ts';

describe('a box whose Box was stored by another release', () => {
  let api: TestApi;
  let replica: TestApi;
  const secret = 'a-secret-of-the-app';
  before(async () => {
    api = await startApi();
    replica = await startApi({ database: api.database });
    await api.declare('shop', [
      { kind: 'Client', id: 'app', grant_types: ['client_credentials'], secret },
      { kind: 'Box', id: 'shop', tokens: { default_access_token_expiration: 77 } },
    ]);
  });
  after(async () => {
    await replica.stop();
    await api.stop();
  });

  /** As a newer release stores it. */
  const store = (fields: object) =>
    ownerQuery(
      api,
      `WITH next AS (UPDATE boxgate.box SET config_version = config_version + 1 WHERE box = 'shop' RETURNING config_version)
       UPDATE boxgate.resource SET body = body || $1::jsonb, version = next.config_version FROM next
       WHERE box = 'shop' AND kind = 'Box'`,
      [JSON.stringify(fields)],
    );

  async function token({ url }: TestApi): Promise<readonly [number, unknown]> {
    const fields = { grant_type: 'client_credentials', client_id: 'app', client_secret: secret };
    const { status, body } = await sendJson(`${url}/boxes/shop/auth/token`, fields);
    return [status, body['expires_in']];
  }

  it('R-55: serves without the fields that it does not know, and not at all with defaults in place of the Box', async () => {
    await store({ next_year: { all: true } });
    for (const server of [api, replica]) expect(await token(server)).to.deep.equal([200, 77]);
    await store({ active: 'from-noon' });
    for (const server of [api, replica]) {
      const [status] = await token(server);
      expect(status).to.equal(503);
    }
    const metadata = await fetch(`${api.url}/boxes/shop/.well-known/openid-configuration`);
    expect(metadata.status).to.equal(503);
    await store({ active: true });
    for (const server of [api, replica]) expect(await token(server)).to.deep.equal([200, 77]);
  });
});
