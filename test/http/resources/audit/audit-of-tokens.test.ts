import { expect } from 'chai';
import { isObject } from '../../../../crds/path.ts';
import { eventually } from '../../../support/eventually.ts';
import { addUser } from '../../pages/browser.ts';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';

const secret = 'a secret of the client';
const password = 'a long enough passphrase';

describe('the audit trail of tokens', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
    await api.declare('default', [
      {
        kind: 'Client',
        id: 'app',
        grant_types: ['client_credentials', 'password'],
        secret,
        auth: { client_credentials: { refresh_token: true } },
      },
    ]);
  });
  after(() => api.stop());

  /** Returns the only record that a search finds, once it is written. */
  async function record(query: string): Promise<Readonly<Record<string, unknown>>> {
    let records: readonly unknown[] = [];
    await eventually(`there is a record of ${query}`, async () => {
      const { body } = await api.call('GET', `/AuditEvent?${query}&_result=array`);
      records = Array.isArray(body) ? body : [];
      return records.length > 0;
    });
    expect(records).to.have.length(1);
    return isObject(records[0]) ? records[0] : {};
  }

  async function post(path: string, fields: Readonly<Record<string, string>>): Promise<unknown> {
    const body = new URLSearchParams({ client_id: 'app', client_secret: secret, ...fields });
    const response = await fetch(`${api.base}${path}`, { method: 'POST', body });
    expect(response.status).to.equal(200);
    return response.json();
  }

  for (const kind of ['access_token', 'refresh_token'] as const) {
    it(`has who revoked a token: ${kind}`, async () => {
      await api.declare('default', [
        {
          kind: 'Client',
          id: kind,
          grant_types: ['client_credentials'],
          secret,
          auth: { client_credentials: { refresh_token: true } },
        },
      ]);
      const issued = await post('/auth/token', { client_id: kind, grant_type: 'client_credentials' });
      const token = isObject(issued) ? String(issued[kind]) : '';
      await post('/auth/revoke', { client_id: kind, token });
      // A token that has ended is revoked again without a record.
      await post('/auth/revoke', { client_id: kind, token });
      expect(await record(`event=session.closed&target=Client/${kind}`)).to.deep.include({
        actor: { client: { resourceType: 'Client', id: kind }, remote_addr: '127.0.0.1' },
        result: 'success',
        count: 1,
      });
    });
  }

  it('has who signed in through the password grant, and through which client', async () => {
    const id = String(await addUser(api, 'ann@shop.example', password));
    await post('/auth/token', { grant_type: 'password', username: 'ann@shop.example', password });
    expect(await record(`event=user.signed_in&target=User/${id}`)).to.deep.include({
      actor: {
        client: { resourceType: 'Client', id: 'app' },
        user: { resourceType: 'User', id },
        remote_addr: '127.0.0.1',
      },
      result: 'success',
    });
  });

  it('has when an email ceased to be verified', async () => {
    const body = { email: 'bob@shop.example', password, email_verified: true };
    const made = await api.call('POST', '/users', { body });
    const id = isObject(made.body) ? String(made.body['id']) : '';
    await api.call('PUT', `/users/${id}`, { body: { email: 'robert@shop.example' } });
    const { changed } = await record(`event=user.changed&target=User/${id}`);
    expect(changed).to.deep.equal(['email', 'email_verified']);
  });
});
