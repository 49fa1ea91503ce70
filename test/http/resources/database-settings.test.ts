import { expect } from 'chai';
import { isObject } from '../../../crds/path.ts';
import { asOwner, freshDatabase } from '../../support/postgres.ts';
import { entries, startBoxApi, stringIn } from './box-api.ts';
import type { BoxApi } from './box-api.ts';

/** Settings that an administrator may have made for a server, a database or a role. */
const settings = [
  "DateStyle = 'German'",
  "DateStyle = 'SQL, DMY'",
  "DateStyle = 'Postgres, YMD'",
  "TimeZone = 'Asia/Kathmandu'",
  "bytea_output = 'escape'",
  'extra_float_digits = -15',
  'standard_conforming_strings = off',
  "default_transaction_isolation = 'serializable'",
  'transform_null_equals = on',
  "search_path = 'public'",
];

describe('a database with odd settings', () => {
  for (const setting of settings) {
    it(`serves with ${setting}`, async () => {
      // E-13: pg reads no date of another style than ISO: JWT, jwks, sessions and users were 500.
      const database = await freshDatabase();
      const name = new URL(database.apiUrl).pathname.slice(1);
      await asOwner(name, (superuser) => superuser.query(`ALTER ROLE boxgate_api IN DATABASE ${name} SET ${setting}`));
      const began = Date.now() - 1_000;
      const api = await startBoxApi({}, database);
      try {
        await useEverything(api, began);
      } finally {
        await api.stop();
        await database.drop();
      }
    });
  }
});

/** Sends each kind of request that reads or shows a time, twice: the second finds what the first has stored. */
async function useEverything(api: BoxApi, began: number): Promise<void> {
  const auth = { client_credentials: { token_format: 'jwt', access_token_expiration: 600, refresh_token: true } };
  const times: unknown[] = [];
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await api.call(method, path, body === undefined ? {} : { body });
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.be.within(200, 201);
    const shown = [...(isObject(reply.body) && 'entry' in reply.body ? entries(reply) : [reply.body])];
    times.push(...shown.filter(isObject).flatMap(({ created_at }) => (created_at === undefined ? [] : [created_at])));
    return reply;
  };
  await ask('PUT', '/Client/jwt', { grant_types: ['client_credentials'], secret: 'x', auth });
  await ask('POST', '/Group', { name: 'people' });
  await ask('POST', '/users', { email: 'ada@example.com', password: 'correct horse battery staple' });
  for (const round of ['first', 'second']) {
    const reply = await api.requestToken('jwt', 'x');
    expect(reply.status, `${round} token: ${reply.text}`).to.equal(200);
    const token = stringIn(reply, 'access_token');
    const body = new URLSearchParams({ token, client_id: 'jwt', client_secret: 'x' });
    const known: unknown = await (await fetch(`${api.base}/auth/introspect`, { method: 'POST', body })).json();
    expect(known).to.include({ active: true });
    expect((await fetch(`${api.base}/.well-known/jwks.json`)).status).to.equal(200);
    const [session] = entries(await ask('GET', '/Session?client=jwt'));
    await ask('GET', `/Session/${String(session?.['id'])}`);
    for (const path of ['/Client', '/Client/jwt', '/AccessPolicy', '/Group', '/Group/1', '/users', '/users/1']) {
      await ask('GET', path);
    }
    await ask('GET', '/AuditEvent');
    await ask('DELETE', `/Session/${String(session?.['id'])}`);
  }
  const parsed = times.map((time) => Date.parse(String(time)));
  expect(parsed.filter((time) => !(time > began && time <= Date.now() + 1_000))).to.deep.equal([]);
  expect(parsed.length).to.be.above(20);
}
