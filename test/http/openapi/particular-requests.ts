import { randomUUID } from 'node:crypto';
import { newBrowser } from '../pages/browser.ts';
import type { Browser } from '../pages/browser.ts';
import { userTokens } from '../../support/user-token.ts';
import { newGrant } from '../route-requests.ts';
import type { RouteApi, RouteRequest } from '../route-requests.ts';

/** Methods of an OpenAPI path item. */
const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'];

/**
 * Returns requests to the decision point for gateways, by each method, in the dialect of Envoy and in that of nginx.
 */
export function checkRequests(token: string): readonly RouteRequest[] {
  return METHODS.flatMap((method) =>
    ['/auth/check', '/auth/check/orders/1'].map((path) => ({
      name: `${method} ${path}`,
      method,
      path,
      shape: 'resource' as const,
      asker: 'token' as const,
      query: path === '/auth/check' ? '?app=shop.example' : '',
      type: undefined,
      body: undefined,
      authorization: `Bearer ${token}`,
      cookie: undefined,
    })),
  );
}

/** Headers of a gateway that tells the original request; the path below the decision point needs none. */
export const GATEWAY_HEADERS = [
  ['X-Original-Method', 'GET'],
  ['X-Original-URI', '/orders/1'],
] as const;

/** Sends requests about records that a custom resource declares, and of names that are taken: they conflict. */
export async function sendConflicts(api: RouteApi): Promise<void> {
  await api.declare('default', [{ kind: 'Group', id: 'declared' }]);
  const groups = await api.call('GET', '/Group?name=declared&_result=array');
  const declared = String(Reflect.get(Object(Array.isArray(groups.body) ? groups.body[0] : {}), 'id'));
  const failing = { type: 'application/json-patch+json', body: '[{"op":"test","path":"/active","value":"x"}]' };
  const client = { resourceType: 'Client', id: 'sample', grant_types: [] };
  const policy = { resourceType: 'AccessPolicy', id: 'sample', engine: 'allow' };
  for (const [path, body] of [
    ['/Client/sample', client],
    ['/AccessPolicy/sample', policy],
    [`/Group/${declared}`, { name: 'renamed' }],
  ] as const) {
    await api.call('PUT', path, { body });
    await api.call('PATCH', path, { body: { name: 'renamed', description: 'changed' } });
    await api.call('DELETE', path);
    await api.call('POST', path.replace(/\/[^/]*$/, ''), { body: { ...body, name: 'declared' } });
  }
  await api.call('POST', '/Client', { body: client });
  await api.call('POST', '/AccessPolicy', { body: policy });
  const sessions = await api.call('GET', '/Session?_count=1&_result=array');
  const session = String(Reflect.get(Object(Array.isArray(sessions.body) ? sessions.body[0] : {}), 'id'));
  await api.call('PATCH', `/Session/${session}`, failing);
  await deleteAdministrator(api);
}

/** Asks to delete the last administrator of the box. */
async function deleteAdministrator(api: RouteApi): Promise<void> {
  const body = { email: `${randomUUID()}@mail.example`, password: 'correct horse' };
  const id = String(Reflect.get(Object((await api.call('POST', '/users', { body })).body), 'id'));
  const link = [{ resourceType: 'User', id }];
  await api.call('PUT', '/AccessPolicy/last', {
    body: { resourceType: 'AccessPolicy', id: 'last', engine: 'allow', link },
  });
  await api.call('DELETE', `/users/${id}`);
}

/** Creates by PUT, and deletes what is not there. */
export async function sendUnknownIds(api: RouteApi): Promise<void> {
  await api.call('PUT', '/Client/new', { body: { resourceType: 'Client', id: 'new', grant_types: [] } });
  await api.call('PUT', '/AccessPolicy/new', { body: { resourceType: 'AccessPolicy', id: 'new', engine: 'allow' } });
  for (const path of ['/Client/nobody', '/AccessPolicy/nobody', '/Group/999999', '/Grant/999999.nobody']) {
    await api.call('DELETE', path);
  }
  await api.call('DELETE', `/Session/${randomUUID()}`);
}

/** Ends a session and withdraws a grant of a user who is signed in to the admin UI. */
export async function endOwnRecords(api: RouteApi): Promise<void> {
  const [user = ''] = (await newGrant(api)).split('.');
  const signedIn = (client: string) => userTokens(api.database.ownerUrl, 'default', client, Number(user));
  await signedIn('app');
  const { access: token } = await signedIn('boxgate.ui');
  const session = /"id":"([^"]+)"/.exec((await api.call('GET', '/account', { token })).text)?.[1] ?? '';
  await api.call('DELETE', '/account/grants/sample', { token });
  await api.call('DELETE', `/account/sessions/${session}`, { token });
}

/** Sends plans that are refused: a kind that is no kind, and more requests than a plan takes. */
export async function sendRefusedPlans(api: RouteApi): Promise<void> {
  const type = 'application/x-ndjson';
  await api.call('POST', '/$plan', { type, body: '{"object":{"kind":"Secret","id":"x","resource":{}}}' });
  const request = '{"request":{"subject":{"client":"sample"},"request":{"request-method":"get","uri":"/"}}}\n';
  await api.call('POST', '/$plan', { type, body: request.repeat(1001) });
}

/** Goes through the pages as people do. */
export async function visitPages(api: RouteApi): Promise<void> {
  const person = { email: `${randomUUID()}@mail.example`, password: 'correct horse' };
  await api.call('POST', '/users', { body: person });
  const browser = newBrowser(api);
  await browser.submit('/auth/signin', { ...person, password: 'another horse' });
  await browser.submit('/auth/signin', person);
  await browser.get('/auth/signin?response_type=token&client_id=app');
  const authorize = '/auth/authorize?response_type=token&client_id';
  await browser.get(`${authorize}=app`);
  await browser.get(`${authorize}=app&response_mode=form_post`);
  await allow(browser, `${authorize}=asking`);
  // A scope that the answer before did not allow.
  await allow(browser, `${authorize}=asking&scope=openid+email&nonce=x&response_mode=form_post`);
  // Below no box.
  await fetch(`${api.url}/`, { headers: { Accept: 'text/html' } });
  // Of an unknown user: it is confirmed at the page for signing out.
  await browser.submit('/auth/logout?client_id=leaving&post_logout_redirect_uri=https://app.example/bye', {});
  await newBrowser(api).get('/auth/logout?client_id=leaving&post_logout_redirect_uri=https://app.example/bye');
  const fields = {
    client_id: 'leaving',
    post_logout_redirect_uri: 'https://app.example/bye',
    boxgate_posted_again: '1',
  };
  await newBrowser(api).post('/auth/logout', fields);
  await api.declare('default', [{ kind: 'Box', id: 'default', registration: { enabled: true, approval: 'admin' } }]);
  const newcomer = { email: `${randomUUID()}@mail.example`, password: 'a long enough passphrase' };
  await newBrowser(api).submit('/auth/signup', newcomer);
  await newBrowser(api).submit('/auth/signup', { ...newcomer, email: 'nobody' });
}

/** Requests authorization and consents. */
async function allow(browser: Browser, address: string): Promise<void> {
  const { location } = await browser.get(address);
  await browser.submit(location, { answer: 'allow' });
}
