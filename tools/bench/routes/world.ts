import { UI_CLIENT } from '../../../crds/reserved-ids.ts';
import { isObject } from '../../../crds/json-value.ts';
import { generateClientSecret } from '../../../api/credentials/secret-text.ts';
import type { Browser } from '../../../test/http/pages/browser.ts';
import type { Client } from '../../../crds/client.ts';
import type { Boxgate } from '../boxgate.ts';
import type { BenchContext } from '../context.ts';
import type { Declared } from '../declare.ts';
import type { Credentials } from '../load/requests.ts';
import { authorization, BACK, boxgateOfPeople, cookiesOf, signIn, VERIFIER } from '../people.ts';

/** A box with something for every route: clients of each sort, people, one of them signed in, and an administrator. */
export interface RouteWorld {
  readonly boxgate: Boxgate;
  readonly clients: Readonly<Record<ClientName, Credentials>>;
  /** A token that may do everything in the box. */
  readonly admin: string;
  /** A person's token for `openid`. */
  readonly userToken: string;
  /** Browsers in which somebody is signed in, each somebody else: one person can have few codes at a time. */
  readonly signedIn: readonly [SignedIn, ...SignedIn[]];
  /** Creates a record and returns its ID. */
  create(route: string, body: object): Promise<string>;
  /** Issues refresh tokens. */
  refreshTokens(client: Credentials, count: number): Promise<readonly string[]>;
  /** Issues authorization codes of everybody for a client, with a scope or, if it is empty, without. */
  codes(client: Credentials, scope: string): Promise<readonly string[]>;
  /** Asks everybody for consent, and returns the IDs of what they have to answer. */
  consents(): Promise<readonly { readonly id: string; readonly by: SignedIn }[]>;
  /** Tokens of the admin UI for so many people who are signed in, each somebody else. */
  uiTokens(count: number): Promise<readonly string[]>;
  /** Stores grants of the client `app` by other people, and returns their IDs. */
  grants(count: number): Promise<readonly string[]>;
}

/** A browser in which somebody is signed in. */
export interface SignedIn {
  /** Its cookies, as it sends them. */
  readonly cookie: string;
  /** The cookie from which its form tokens are made. */
  readonly browserToken: string;
}

/** Clients that a bench of the common routes does not have. */
type ClientName = 'refreshing' | 'rotating' | 'app' | 'elliptic' | 'asking' | 'people';

/** A host of the box's own. */
export const OWN_HOST = 'id.shop.example';

/** People of the box: users 1 to so many. */
export const PEOPLE = 1_000;
/** So many people are signed in: users 1 to so many. */
const SIGNED_IN = 64;
/** Codes of each of them: so many that the code which redeems them is compiled long before the last one. */
const CODES = 30;
/** Requests of each of them for a consent. */
const CONSENTS = 5;

/** Opens the world on a Boxgate of its own. */
export async function openRouteWorld(context: BenchContext): Promise<RouteWorld> {
  const boxgate = await boxgateOfPeople(context, 'routes', PEOPLE, { BOXGATE_STANDALONE: 'true' });
  const named = (id: ClientName): Credentials => ({ id: `bench-${id}`, secret: generateClientSecret() });
  const clients = {
    refreshing: named('refreshing'),
    rotating: named('rotating'),
    app: named('app'),
    elliptic: named('elliptic'),
    asking: named('asking'),
    people: named('people'),
  };
  await boxgate.add(declared(boxgate.box, clients));
  const [admin = ''] = await boxgate.issue(boxgate.clients.reader, 1);
  const browsers = await inTurn(SIGNED_IN, (nth) => signIn(boxgate, nth + 1));
  const [first] = browsers;
  if (first === undefined) throw new Error('nobody is signed in');
  const { location } = await first.get(`/auth/authorize?${authorization(clients.app.id, 'token')}`);
  let lastGrantee = SIGNED_IN;
  const base = `http://127.0.0.1:${boxgate.port}`;
  return {
    boxgate,
    clients,
    admin,
    userToken: /access_token=([^&]+)/.exec(location)?.[1] ?? '',
    signedIn: [signedInWith(first, boxgate.box), ...browsers.slice(1).map((one) => signedInWith(one, boxgate.box))],
    create: (route, body) => create(base + boxgate.path(route), admin, body),
    refreshTokens: (client, count) => inTurn(count, () => refreshToken(base + boxgate.path('/auth/token'), client)),
    codes: ({ id }, scope) =>
      ofEach(browsers, CODES, (browser) => redirected(browser, authorization(id, 'code', scope), 'code')),
    consents: () =>
      ofEach(browsers, CONSENTS, async (browser) => {
        const id = await redirected(browser, authorization(clients.asking.id, 'code'), 'id');
        return { id, by: signedInWith(browser, boxgate.box) };
      }),
    uiTokens: (count) => inTurn(count, (nth) => uiToken(at(browsers, nth), boxgate)),
    grants(count) {
      const after = lastGrantee;
      lastGrantee += count;
      return storeGrants(context, boxgate, clients.app.id, { after, count });
    },
  };
}

function declared(box: string, clients: RouteWorld['clients']): Declared[] {
  const client = (
    { id, secret }: Credentials,
    fields: Pick<Client, 'grant_types' | 'auth' | 'first_party' | 'id_token_signed_response_alg'>,
  ): Declared => ({
    kind: 'Client',
    id,
    resource: { resourceType: 'Client', id, secret, ...fields },
  });
  const redirecting = { authorization_code: { redirect_uri: BACK }, implicit: { redirect_uri: BACK } };
  const people = { grant_types: ['authorization_code' as const, 'implicit' as const], auth: redirecting };
  const own = (settings: { refresh_rotation?: true }) => ({
    grant_types: ['client_credentials' as const],
    auth: { client_credentials: { refresh_token: true, ...settings } },
  });
  return [
    {
      kind: 'Box',
      id: box,
      resource: { resourceType: 'Box', id: box, hosts: [OWN_HOST], registration: { enabled: true } },
    },
    client(clients.refreshing, own({})),
    client(clients.rotating, own({ refresh_rotation: true })),
    client(clients.app, { ...people, first_party: true }),
    client(clients.elliptic, { ...people, first_party: true, id_token_signed_response_alg: 'ES256' }),
    client(clients.asking, people),
    client(clients.people, { grant_types: ['password'] }),
  ];
}

/** So many requests of the preparation are under way at once. */
const atOnce = 16;

async function inTurn<T>(count: number, make: (nth: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) {
    const [from, some] = [made.length, Math.min(atOnce, count - made.length)];
    made.push(...(await Promise.all(Array.from({ length: some }, (_, nth) => make(from + nth)))));
  }
  return made;
}

/** Makes so many of each browser. */
async function ofEach<T>(
  browsers: readonly Browser[],
  each: number,
  make: (browser: Browser) => Promise<T>,
): Promise<T[]> {
  const rounds = Array.from({ length: each }, () => browsers).flat();
  return inTurn(rounds.length, (nth) => make(at(rounds, nth)));
}

function at<T>(list: readonly T[], nth: number): T {
  const found = list[nth];
  if (found === undefined) throw new Error(`there is no ${nth}`);
  return found;
}

function signedInWith({ cookies }: Browser, box: string): SignedIn {
  return { cookie: cookiesOf(cookies), browserToken: cookies.get(`boxgate-${box}`) ?? '' };
}

async function create(url: string, token: string, body: object): Promise<string> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const made: unknown = await response.json();
  if (!isObject(made) || !('id' in made)) throw new Error(`not created: ${response.status} ${JSON.stringify(made)}`);
  return String(made['id']);
}

async function refreshToken(url: string, { id, secret }: Credentials): Promise<string> {
  const headers = { Authorization: `Basic ${btoa(`${id}:${secret}`)}` };
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const answer: unknown = await (await fetch(url, { method: 'POST', headers, body })).json();
  if (!isObject(answer) || !('refresh_token' in answer)) throw new Error(`no refresh token: ${JSON.stringify(answer)}`);
  return String(answer['refresh_token']);
}

/** Signs a person in to the admin UI, and returns its token. */
async function uiToken(browser: Browser, boxgate: Boxgate): Promise<string> {
  const redirect_uri = `http://127.0.0.1${boxgate.path('')}/ui/`;
  const code = await redirected(browser, authorization(UI_CLIENT, 'code', 'openid boxgate', redirect_uri), 'code');
  const fields = {
    grant_type: 'authorization_code',
    client_id: UI_CLIENT,
    code,
    redirect_uri,
    code_verifier: VERIFIER,
  };
  const url = `http://127.0.0.1:${boxgate.port}${boxgate.path('/auth/token')}`;
  const answer: unknown = await (await fetch(url, { method: 'POST', body: new URLSearchParams(fields) })).json();
  if (!isObject(answer) || !('access_token' in answer))
    throw new Error(`no token of the admin UI: ${JSON.stringify(answer)}`);
  return String(answer['access_token']);
}

/** Asks for authorization as the signed-in person, and returns a parameter of where the browser is led. */
async function redirected(browser: Browser, query: string, parameter: string): Promise<string> {
  const { location, status } = await browser.get(`/auth/authorize?${query}`);
  const value = new URL(location, BACK).searchParams.get(parameter);
  if (value === null) throw new Error(`no ${parameter}: ${status} ${location}`);
  return value;
}

/** Stores grants by the people after this one. */
async function storeGrants(
  context: BenchContext,
  boxgate: Boxgate,
  client: string,
  { after, count }: { readonly after: number; readonly count: number },
): Promise<string[]> {
  const rows = await context.postgres.query<{ user_id: string }>(
    boxgate.database,
    `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
     SELECT b.box, u.id, $2, '{}', b.config_version, now()
       FROM boxgate.box b JOIN boxgate.user u USING (box) WHERE box = $1 AND u.id > $3 ORDER BY u.id LIMIT $4
     RETURNING user_id`,
    [boxgate.box, client, after, count],
  );
  return rows.map(({ user_id }) => `${user_id}.${client}`);
}
