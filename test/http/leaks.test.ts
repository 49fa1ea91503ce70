import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { routes } from '../../api/app.ts';
import { createManagement } from '../support/api.ts';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { leaksIn } from './leaks.ts';
import { sendRequest } from './raw-http.ts';
import type { RawReply } from './raw-http.ts';

/** Text that nobody would write by chance. */
function canary(name: string): string {
  return `canary-${name}-${randomBytes(9).toString('base64url')}`;
}

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const yaml = 'application/yaml';

describe('X-14 I12: secrets', () => {
  let database: TestDatabase;
  let api: ApiProcess;
  /** Everything that must not be found, by what it is. */
  const secrets: Record<string, string> = {
    'declared secret': canary('declared'),
    'second secret': canary('second'),
    'secret set by PUT': canary('put'),
    'secret set by PATCH': canary('patch'),
    'secret of a refused Client': canary('refused'),
    'wrong secret': canary('wrong'),
    'secret in the query': canary('query'),
    'secret in a broken body': canary('broken'),
    'wrong bearer token': canary('bearer'),
    'token in the query': canary('token-query'),
    'wrong refresh token': `bgr_${canary('refresh')}`,
    'token in a policy question': canary('explain'),
    'wrong management key': canary('management'),
    'password of a user': canary('password'),
    'password of a refused user': canary('refused-password'),
    'password under a wrong name': canary('misnamed-password'),
    cookie: canary('cookie'),
  };
  const texts: Record<string, string[]> = { headers: [], errors: [], resources: [], metrics: [] };

  before(async () => {
    database = await freshDatabase();
    api = await startApiProcess(database.apiUrl, { BOXGATE_LOG_LEVEL: 'debug' });
    secrets['database password'] = new URL(database.apiUrl).password;
    secrets['management key'] = api.managementKey;
  });
  after(async () => {
    await api.end('SIGTERM');
    await database.drop();
  });

  async function send(method: string, path: string, authorization?: string, type?: string, body?: string) {
    const headers: [string, string][] = [['Cookie', `session=${secrets['cookie'] ?? ''}`]];
    if (authorization !== undefined) headers.push(['Authorization', authorization]);
    if (type !== undefined) headers.push(['Content-Type', type]);
    const target = `/boxes/default${path}`;
    const reply = await sendRequest(api.url, { method, target, headers, ...(body === undefined ? {} : { body }) });
    keep(reply, path);
    return reply;
  }

  function keep(reply: RawReply, path: string): void {
    // What an app posts there is asked once more by GET.
    const isAskedAgain = reply.status === 303 && path.startsWith('/auth/authorize');
    const headers = [...reply.headers].filter(([name]) => !isAskedAgain || name !== 'location');
    texts['headers']?.push(headers.flat().join(' '));
    if (reply.status >= 400) texts['errors']?.push(reply.text);
    // The answer with a new token is the one place where a secret belongs.
    else if (!path.startsWith('/auth/token')) texts['resources']?.push(reply.text);
  }

  function textIn(reply: RawReply, name: string): string {
    const body: unknown = JSON.parse(reply.text);
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    if (typeof value !== 'string') throw new Error(`no ${name} in ${reply.text}`);
    return value;
  }

  const basic = (id: string, secret = ''): string => `Basic ${btoa(`${id}:${secret}`)}`;

  it('are in no log line, header, error, resource or metric after a run through all endpoints', async () => {
    const { declare } = createManagement(api.managementUrl, api.managementKey);
    const refreshing = { refresh_token: true, access_token_expiration: 600 };
    await declare('default', [
      {
        kind: 'Client',
        id: 'boss',
        grant_types: ['client_credentials'],
        secret: secrets['declared secret'],
        auth: { client_credentials: refreshing },
      },
      {
        kind: 'Client',
        id: 'jwt',
        grant_types: ['client_credentials'],
        secret: secrets['second secret'],
        auth: { client_credentials: { ...refreshing, token_format: 'jwt', refresh_rotation: true } },
      },
      {
        kind: 'AccessPolicy',
        id: 'all',
        engine: 'allow',
        link: [
          { resourceType: 'Client', id: 'boss' },
          { resourceType: 'Client', id: 'jwt' },
        ],
      },
    ]);
    await takeTokens();
    for (const token of [secrets['opaque access token'], secrets['JWT']]) await useEverything(token ?? '');
    await goWrong();
    const page = await fetch(`${api.managementUrl}/metrics`);
    texts['metrics']?.push(await page.text());
    for (const path of ['/boxes', '/epoch']) {
      const headers = { Authorization: `Bearer ${secrets['wrong management key'] ?? ''}` };
      texts['errors']?.push(await (await fetch(api.managementUrl + path, { headers })).text());
    }
    expect(leaksIn({ ...texts, log: api.lines }, secrets)).to.deep.equal([]);
    expect(api.lines.length, 'it did log').to.be.greaterThan(100);
    expect(Object.values(texts).flat().length, 'there were answers').to.be.greaterThan(100);
  });

  async function takeTokens(): Promise<void> {
    const grant = 'grant_type=client_credentials';
    const opaque = await send('POST', '/auth/token', basic('boss', secrets['declared secret']), form, grant);
    secrets['opaque access token'] = textIn(opaque, 'access_token');
    secrets['refresh token'] = textIn(opaque, 'refresh_token');
    const fields = { grant_type: 'client_credentials', client_id: 'jwt', client_secret: secrets['second secret'] };
    const jwt = await send('POST', '/auth/token', undefined, json, JSON.stringify(fields));
    secrets['JWT'] = textIn(jwt, 'access_token');
    secrets['signature of the JWT'] = secrets['JWT'].split('.')[2] ?? '';
    secrets['rotating refresh token'] = textIn(jwt, 'refresh_token');
    const rotated = await refresh('jwt', secrets['rotating refresh token']);
    secrets['successor'] = textIn(rotated, 'refresh_token');
    await refresh('jwt', secrets['rotating refresh token']);
    await refresh('boss', secrets['refresh token']);
    await refresh('boss', secrets['wrong refresh token']);
  }

  function refresh(id: string, token = ''): Promise<RawReply> {
    const body = JSON.stringify({ grant_type: 'refresh_token', client_id: id, refresh_token: token });
    return send('POST', '/auth/token', undefined, json, body);
  }

  /** Every route with a good token: what it answers, and what it does not understand. */
  async function useEverything(token: string): Promise<void> {
    const bearer = `Bearer ${token}`;
    const client = (fields: object): string =>
      JSON.stringify({ grant_types: ['client_credentials'], name: 'made', ...fields });
    await send('PUT', '/Client/made', bearer, json, client({ secret: secrets['secret set by PUT'] }));
    await send('PATCH', '/Client/made', bearer, json, JSON.stringify({ secret: secrets['secret set by PATCH'] }));
    await send('PUT', '/Client/made', bearer, yaml, `secret: ${secrets['secret set by PUT'] ?? ''}\nname: [`);
    const refused = secrets['secret of a refused Client'];
    await send('POST', '/Client', bearer, json, client({ id: 'x', secret: refused, surprise: refused }));
    await send('POST', '/Client', bearer, json, client({ id: 'x', secret: [refused], jwks: { keys: [refused] } }));
    await send(
      'PUT',
      '/AccessPolicy/x',
      bearer,
      json,
      JSON.stringify({ engine: 'cel', expression: `"${refused ?? ''}` }),
    );
    await send('PUT', '/AccessPolicy/x', bearer, json, JSON.stringify({ engine: refused }));
    const headers = { authorization: `Bearer ${secrets['token in a policy question'] ?? ''}` };
    const question = { request: { 'request-method': 'get', uri: '/Client', headers } };
    await send('POST', '/AccessPolicy/$explain', bearer, json, JSON.stringify(question));
    const password = secrets['password of a user'];
    await send('POST', '/users', bearer, json, JSON.stringify({ email: 'ann@mail.example', password }));
    await send('PUT', '/users/1', bearer, json, JSON.stringify({ password }));
    const refusedUser = { email: 'x', password: secrets['password of a refused user'] };
    await send('POST', '/users', bearer, json, JSON.stringify(refusedUser));
    await send('POST', '/users', bearer, json, JSON.stringify({ passwrod: secrets['password under a wrong name'] }));
    await send('GET', `/users?access_token=${token}`);
    const whoAmI = basic('boss', secrets['declared secret']);
    for (const path of ['/auth/introspect', '/auth/revoke']) {
      await send('POST', path, whoAmI, form, `token=${secrets['wrong bearer token'] ?? ''}`);
    }
    await send('POST', '/auth/introspect', whoAmI, form, `token=${token}`);
    for (const [method, path] of routes) {
      if (method === 'DELETE' || path === '/auth/token') continue;
      await send(method, path.replace(':id', 'made'), bearer, json, method === 'GET' ? undefined : '{}');
    }
    await send('DELETE', '/Client/made', bearer);
    await send('DELETE', '/AccessPolicy/x', bearer);
  }

  /** Every route with secrets where they do not belong. */
  async function goWrong(): Promise<void> {
    const bearer = `Bearer ${secrets['wrong bearer token'] ?? ''}`;
    const good = `Bearer ${secrets['opaque access token'] ?? ''}`;
    const query = `access_token=${secrets['token in the query'] ?? ''}&client_secret=${secrets['secret in the query'] ?? ''}`;
    for (const [method, route] of routes) {
      const path = route.replace(':id', 'x');
      const body =
        method === 'GET' || method === 'DELETE' ? undefined : `{"secret":"${secrets['secret in a broken body'] ?? ''}`;
      await send(method, path, bearer, json, body);
      await send(method, `${path}?${query}`, undefined, json, body);
      await send(method, `${path}?${query}`, good, form, body);
      await send(method, path, basic('boss', secrets['wrong secret']), form, 'grant_type=client_credentials&token=x');
      await send(method, `${path}/${secrets['secret in the query'] ?? ''}`, bearer);
      if (method !== 'DELETE') await send(method, path, good, json, body);
    }
    await send('DELETE', '/Session', `Bearer ${secrets['JWT'] ?? ''}`);
    await send('DELETE', '/Session', `Bearer ${secrets['JWT'] ?? ''}`);
  }

  it('every line of the log is one JSON object', () => {
    for (const line of api.lines) {
      const value: unknown = JSON.parse(line);
      expect(value, line).to.be.an('object').that.includes.keys('level', 'time');
    }
  });

  it('would be found: a leak that is planted is one that is seen', () => {
    const secret = secrets['wrong secret'] ?? '';
    const planted: Readonly<Record<string, string>> = {
      'a log line': JSON.stringify({ msg: `refused ${secret}` }),
      'a log line with Basic credentials': JSON.stringify({ authorization: basic('boss', secret) }),
      'Basic credentials of another length': basic('bo', secret),
      'Basic credentials of a third length': basic('b', secret),
      'an address': `GET /x?client_secret=${encodeURIComponent(`${secret}&`)}`,
      'a metric': `boxgate_http_requests_total{route="${secret}"} 1`,
      'an error': `{"error":"invalid_request","error_description":"unexpected ${secret}"}`,
      bytes: Buffer.from(secret).toString('hex'),
      'a cut value': `…${secret.slice(-secret.length / 2)}`,
    };
    for (const [place, text] of Object.entries(planted)) {
      const found = leaksIn({ [place]: ['nothing', text] }, { it: secret });
      expect(found.join(), place).to.contain(`in ${place}`);
    }
    expect(leaksIn({ nowhere: ['nothing of it', 'canary-'] }, { it: secret })).to.deep.equal([]);
  });
});
