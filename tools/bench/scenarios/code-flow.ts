import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import type { Declared } from '../declare.ts';
import { median, medianRatio, milliseconds, perSecond } from '../figures.ts';
import type { FlowPerson, FlowPlan } from '../load/plan.ts';
import type { Credentials } from '../load/requests.ts';
import { alternate, type Contestant } from '../rounds.ts';
import { verdictOf, type Scenario } from '../scenario.ts';
import { authorization, BACK, boxgateOfPeople, cookiesOf, signIn, VERIFIER } from '../people.ts';

/**
 * One on each connection: node-oidc-provider writes the row of a session in each flow, and nobody waits for it there.
 */
const people = 64;
const algorithm = 'ES256';

/** The whole code flow of people who are signed in and have consented: a code, its tokens, and whose they are. */
export const codeFlow: Scenario = {
  name: 'code-flow',
  async run(context) {
    const contestants = [await boxgateFlow(context), await providerFlow(context)];
    const results = await alternate(context.load, contestants, context.rounds);
    const rates = (name: string): number[] => results.get(name)?.map((round) => round.perSecond) ?? [];
    for (const name of results.keys()) context.say(`  ${name}: ${rates(name).map(perSecond).join(' ')}`);
    const ratio = medianRatio(rates('boxgate'), rates('oidc-provider'));
    const rate = (name: string): string => perSecond(median(rates(name)));
    const cpu = (name: string): string =>
      milliseconds(median(results.get(name)?.map((round) => round.cpuPerAnswer) ?? []));
    return [
      {
        what: 'whole code flow of a signed-in user (authorize, token, userinfo), against node-oidc-provider on the same Postgres',
        goal: '>= 0.7 times',
        figure: `${ratio.toFixed(2)} times (${rate('boxgate')} of ${rate('oidc-provider')}; CPU ${cpu('boxgate')} of ${cpu('oidc-provider')})`,
        verdict: verdictOf(ratio >= 0.7),
      },
    ];
  },
};

async function boxgateFlow(context: BenchContext): Promise<Contestant> {
  const boxgate = await boxgateOfPeople(context, 'flows', people);
  const client = { id: 'bench-web', secret: generateClientSecret() };
  await boxgate.add([webClient(client)]);
  const authorize = `/auth/authorize?${authorization(client.id)}`;
  const signedIn = async (user: number): Promise<FlowPerson> => {
    const browser = await signIn(boxgate, user);
    const { location } = await browser.get(authorize);
    const { status } = await browser.submit(location, { answer: 'allow' });
    if (status !== 302) throw new Error(`no consent of user ${user}: ${status} after ${location}`);
    return { authorize: boxgate.path(authorize), cookie: cookiesOf(browser.cookies), sub: String(user) };
  };
  return flows(context, 'boxgate', boxgate, {
    people: await eachPerson(signedIn),
    redemption: redemption(boxgate.path('/auth/token'), client),
    userInfo: boxgate.path('/auth/userinfo'),
  });
}

/** Returns a third-party client, which needs consent. */
function webClient({ id, secret }: Credentials): Declared {
  const resource = {
    resourceType: 'Client',
    id,
    secret,
    grant_types: ['authorization_code'],
    auth: { authorization_code: { redirect_uri: BACK } },
    id_token_signed_response_alg: algorithm,
  } as const;
  return { kind: 'Client', id, resource: { ...resource, grant_types: [...resource.grant_types] } };
}

async function providerFlow(context: BenchContext): Promise<Contestant> {
  const server = await context.floor('oidc-provider-postgres');
  await context.postgres.query(
    'floor_oidc-provider-postgres',
    `INSERT INTO account SELECT i, 'user-' || i || '@shop.example' FROM generate_series(1, $1::integer) i`,
    [people],
  );
  const client = { id: 'bench', secret: 'bench-secret' };
  const authorize = `/auth/authorize?${authorization(client.id)}`;
  const signedIn = async (user: number): Promise<FlowPerson> => {
    const cookies = await cookiesAfter(server.port, `${authorize}&login_hint=${user}`);
    return { authorize, cookie: cookiesOf(cookies), sub: String(user) };
  };
  return flows(context, 'oidc-provider', server, {
    people: await eachPerson(signedIn),
    redemption: redemption('/auth/token', client),
    userInfo: '/auth/userinfo',
  });
}

/** The cookies of a browser that was led from here back to the client. */
async function cookiesAfter(port: number, path: string): Promise<Map<string, string>> {
  const cookies = new Map<string, string>();
  const server = `http://127.0.0.1:${port}`;
  let address: string = path;
  while (!address.startsWith(BACK)) {
    const { pathname, search } = new URL(address, server);
    const headers = { Cookie: cookiesOf(cookies) };
    const response: Response = await fetch(server + pathname + search, { headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${address}: ${response.status} ${await response.text()}`);
    await response.body?.cancel();
    address = location;
  }
  return cookies;
}

async function eachPerson(signedIn: (user: number) => Promise<FlowPerson>): Promise<FlowPerson[]> {
  const found: FlowPerson[] = [];
  for (let user = 1; user <= people; user += 1) found.push(await signedIn(user));
  return found;
}

function redemption(path: string, credentials: Credentials): FlowPlan['redemption'] {
  const fields = { grant_type: 'authorization_code', redirect_uri: BACK, code_verifier: VERIFIER };
  return { path, fields, credentials };
}

function flows(
  context: BenchContext,
  name: string,
  server: { pid: number; port: number },
  plan: Pick<FlowPlan, 'people' | 'redemption' | 'userInfo'>,
): Contestant {
  const { seconds } = context;
  const { port } = server;
  const whole = { ...plan, algorithm, port, seconds, warmupSeconds: 0.5 };
  return { ...contestant(context, name, server, []), plan: () => whole };
}
