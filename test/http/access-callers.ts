import type { TestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import type { Caller } from './access-table.ts';

/** The form of an access token. */
export type Format = 'opaque' | 'jwt';

/** Credentials of every caller, as they stand in an Authorization header; undefined: none are sent. */
export interface Callers {
  bearer(caller: Caller, format: Format): string | undefined;
  /** One that is used up by its request: a token of its own. */
  freshBearer(caller: Caller, format: Format): Promise<string | undefined>;
  basic(caller: Caller): string | undefined;
}

const formats: readonly Format[] = ['opaque', 'jwt'];

/** The client behind each caller that has one; `-jwt` is added for the one whose tokens are JWTs. */
const clientOf: Readonly<Partial<Record<Caller, string>>> = {
  bare: 'bare',
  reader: 'reader',
  'other box': 'boss',
  closed: 'boss',
  revoked: 'boss',
  disabled: 'disabled',
  deleted: 'deleted',
  expired: 'short',
  admin: 'boss',
};

/** Makes the clients and policies of the callers in the boxes `default` and `other`, and a token for each. */
export async function makeCallers(api: TestApi): Promise<Callers> {
  await declareCallers(api);
  const issue = (caller: Caller, format: Format): Promise<string> => {
    const id = `${clientOf[caller] ?? ''}${format === 'jwt' ? '-jwt' : ''}`;
    return requestToken(api, caller === 'other box' ? 'other' : 'default', id);
  };
  const tokens = new Map<string, string>();
  for (const format of formats) {
    for (const caller of Object.keys(clientOf)) {
      if (isCaller(caller)) tokens.set(`${caller} ${format}`, await issue(caller, format));
    }
  }
  const header = (text: string | undefined): string | undefined => (text === undefined ? undefined : `Bearer ${text}`);
  const bearer = (caller: Caller, format: Format): string | undefined => {
    if (caller === 'malformed') return 'Bearer no, token';
    if (caller === 'unknown') return format === 'opaque' ? `Bearer bgt_${'A'.repeat(70)}` : `Bearer ${forgedJwt}`;
    return header(tokens.get(`${caller} ${format}`));
  };
  for (const format of formats) await endSessions(api, bearer, format);
  await api.declare('default', [
    { ...client('disabled'), active: false },
    { ...client('disabled-jwt'), active: false },
  ]);
  await api.remove('default', [client('deleted'), client('deleted-jwt')]);
  return {
    bearer,
    async freshBearer(caller, format) {
      const isGood = caller === 'bare' || caller === 'reader' || caller === 'admin';
      return isGood ? header(await issue(caller, format)) : bearer(caller, format);
    },
    basic(caller) {
      if (caller === 'nobody') return undefined;
      if (caller === 'malformed') return 'Basic no, base64';
      return `Basic ${btoa(`${clientOf[caller] ?? 'unknown'}:${secretOf(caller === 'other box' ? 'other' : 'default')}`)}`;
    },
  };
}

const forgedJwt = [
  Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"x"}').toString('base64url'),
  Buffer.from('{"sub":"boss"}').toString('base64url'),
  'A'.repeat(86),
].join('.');

function isCaller(text: string): text is Caller {
  return Object.hasOwn(clientOf, text);
}

/** Equal ids in both boxes, with different secrets. */
function secretOf(box: string): string {
  return `secret of ${box}`;
}

function client(id: string, box = 'default', settings: object = {}) {
  const token_format = id.endsWith('-jwt') ? { token_format: 'jwt' } : {};
  return {
    kind: 'Client',
    id,
    grant_types: ['client_credentials'],
    secret: secretOf(box),
    auth: { client_credentials: { ...token_format, ...settings } },
  } as const;
}

async function declareCallers(api: TestApi): Promise<void> {
  const both = (id: string): readonly string[] => [id, `${id}-jwt`];
  const links = (ids: readonly string[]) => ids.flatMap(both).map((id) => ({ resourceType: 'Client', id }));
  await api.declare('default', [
    ...['boss', 'bare', 'reader', 'disabled', 'deleted'].flatMap(both).map((id) => client(id)),
    ...both('short').map((id) => client(id, 'default', { access_token_expiration: 1 })),
    { kind: 'AccessPolicy', id: 'all', engine: 'allow', link: links(['boss', 'disabled', 'deleted', 'short']) },
    {
      kind: 'AccessPolicy',
      id: 'reading',
      engine: 'matcho',
      link: links(['reader']),
      matcho: { 'request-method': 'get', resource: { resourceType: 'AccessPolicy' } },
    },
  ]);
  await api.declare('other', [
    ...both('boss').map((id) => client(id, 'other')),
    { ...client('only-there', 'other') },
    { kind: 'AccessPolicy', id: 'only-there', engine: 'allow', link: links(['boss']) },
  ]);
}

async function endSessions(
  api: TestApi,
  bearer: (caller: Caller, format: Format) => string | undefined,
  format: Format,
): Promise<void> {
  const base = `${api.url}/boxes/default`;
  const call = (caller: Caller, method: string, path: string): Promise<Response> =>
    fetch(base + path, { method, headers: { Authorization: bearer(caller, format) ?? '' } });
  await call('closed', 'DELETE', '/Session');
  const introspected = await fetch(`${base}/auth/introspect`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`boss:${secretOf('default')}`)}` },
    body: new URLSearchParams({ token: (bearer('revoked', format) ?? '').slice('Bearer '.length) }),
  });
  await call('admin', 'DELETE', `/Session/${member(await introspected.json(), 'jti')}`);
  await eventually('the short token is over', async () => (await call('expired', 'GET', '/Client')).status === 401);
}

/** A token of client credentials. */
async function requestToken(api: TestApi, box: string, id: string): Promise<string> {
  const response = await fetch(`${api.url}/boxes/${box}/auth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${id}:${secretOf(box)}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  return member(await response.json(), 'access_token');
}

function member(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  if (typeof value !== 'string') throw new Error(`no ${name} in ${JSON.stringify(body)}`);
  return value;
}
