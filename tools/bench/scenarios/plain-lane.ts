import { readFile } from 'node:fs/promises';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import type { Boxgate } from '../boxgate.ts';
import { contestant } from '../contestants.ts';
import type { BenchContext } from '../context.ts';
import { milliseconds, perSecond } from '../figures.ts';
import type { LoadReport } from '../load/plan.ts';
import { bearerRequest, formRequest, resourceRequest } from '../load/requests.ts';
import { authorization, BACK, boxgateOfPeople, signIn, VERIFIER } from '../people.ts';
import type { Contestant } from '../rounds.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';

/** Rows of each kind; BOXGATE_BENCH_RECORDS: fewer, to try the scenario. */
const records = Number(process.env['BOXGATE_BENCH_RECORDS'] ?? 1_000_000);
/** People who are signed in, each with so many codes. */
const [people, codes] = [32, 30];
/** Goals: 95 % of the answers, and every statement, in milliseconds. */
const [slowestAnswer, slowestStatement] = [100, 20];
/** Days over which sessions end, and days of records of the audit trail. */
const days = 30;

/** Requests of people and operators, over 64 connections in a box with a million rows of each kind. */
export const plainLane: Scenario = {
  name: 'plain-lane',
  async run(context) {
    const boxgate = await boxgateOfPeople(context, 'plain', records);
    await store(context, boxgate);
    const contestants = await requests(context, boxgate);
    // Every statement that takes longer is in the log.
    const setting = `ALTER SYSTEM SET log_min_duration_statement = ${String(slowestStatement)}`;
    await context.postgres.query('postgres', setting);
    await context.postgres.query('postgres', 'SELECT pg_reload_conf()');
    const rows: Row[] = [];
    for (const one of contestants) rows.push(rowOf(one.name, await context.load.run(one.plan())));
    rows.push(await redemptionRow(context, boxgate));
    await context.postgres.query('postgres', 'ALTER SYSTEM RESET log_min_duration_statement');
    await context.postgres.query('postgres', 'SELECT pg_reload_conf()');
    return [...rows, await statementRow(context)];
  },
};

function rowOf(name: string, { statuses, failures, latency, perSecond: rate }: LoadReport): Row {
  const isServed = failures === 0 && Object.keys(statuses).join() === '200';
  return {
    what: `${name}, ${records.toLocaleString('en-US')} of each kind stored, 64 connections: p95`,
    goal: `<= ${String(slowestAnswer)} ms`,
    figure: `${milliseconds(latency.p95)} (${perSecond(rate)}${isServed ? '' : `, answers ${JSON.stringify(statuses)}`})`,
    verdict: verdictOf(isServed && latency.p95 <= slowestAnswer),
  };
}

/** Stores sessions, grants and records of the audit trail in bulk. */
async function store({ postgres }: BenchContext, { database, box, clients }: Boxgate): Promise<void> {
  const query = (text: string, values: unknown[]) => postgres.query(database, text, values);
  const today = 'floor(extract(epoch FROM now()) / 86400)::int';
  await query(
    `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr)
     SELECT uuidv7(), 1, to_timestamp((today + d) * 86400 + 43200), today + d, 'c', $1, $2, sha256(int8send(i * 100 + d)), '127.0.0.1'
       FROM generate_series(1, $4) d, generate_series(1, $3 / $4) i, LATERAL (SELECT ${today}) t (today)`,
    [box, clients.opaque.id, records, days],
  );
  await query(
    `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
     SELECT b.box, u.id, $2, '{}', b.config_version, now() FROM boxgate.box b JOIN boxgate.user u USING (box) WHERE box = $1`,
    [box, clients.opaque.id],
  );
  await query(`SELECT boxgate.make_audit_days(d) FROM generate_series(1, $1, 3) d`, [days]);
  await query(
    `INSERT INTO boxgate.audit_event (id, version, created_at, day, box, event, result, target)
     SELECT uuidv7(age), 1, now() + age, today + d, $1, 'user.changed', 'success', 'User/' || i
       FROM generate_series(1, $3) d, generate_series(1, $2 / $3) i,
            LATERAL (SELECT ${today}, (d - $3) * interval '1 day') t (today, age)`,
    [box, records, days],
  );
  await query('VACUUM (ANALYZE)', []);
}

async function requests(context: BenchContext, boxgate: Boxgate): Promise<Contestant[]> {
  const [token = ''] = await boxgate.issue(boxgate.clients.reader, 1);
  const users = Array.from({ length: 500 }, (_, nth) => String(1 + ((nth * 7_919) % records)));
  const get = (paths: readonly string[]) => paths.map((path) => bearerRequest(boxgate.path(path), token));
  const put = (id: string, nth: number) =>
    resourceRequest(['PUT', boxgate.path(`/users/${id}`)], token, JSON.stringify({ data: `{"turn":${String(nth)}}` }));
  const several = {
    ...Object.fromEntries(
      ['/users', '/Session', '/AuditEvent', '/Grant'].map((list) => [`GET ${list}`, get([`${list}?_count=10`])]),
    ),
    'GET /users by email': get(users.map((id) => `/users?email=user-${id}%40shop.example`)),
    'GET /users/:id': get(users.map((id) => `/users/${id}`)),
    'PUT /users/:id': users.map(put),
  };
  return Object.entries(several).map(([name, texts]) => contestant(context, `\`${name}\``, boxgate, texts));
}

/** Each code is redeemed once, within its minute. */
async function redemptionRow(context: BenchContext, boxgate: Boxgate): Promise<Row> {
  const texts = await codesOfEverybody(boxgate);
  const common = { port: boxgate.port, connections: 64, requests: texts, limit: texts.length };
  return rowOf('redemption of a code', await context.load.run({ ...common, seconds: 60, warmupSeconds: 0 }));
}

/** Returns a request for the tokens of each code. */
async function codesOfEverybody(boxgate: Boxgate): Promise<string[]> {
  const client = { id: 'bench-app', secret: generateClientSecret() };
  const auth = { authorization_code: { redirect_uri: BACK } };
  const fields = { ...client, auth, grant_types: ['authorization_code' as const], first_party: true };
  await boxgate.add([{ kind: 'Client', id: client.id, resource: { resourceType: 'Client', ...fields } }]);
  const ofPerson = async (_: unknown, nth: number): Promise<string[]> => {
    const browser = await signIn(boxgate, nth + 1);
    const found: string[] = [];
    while (found.length < codes) {
      const { location } = await browser.get(`/auth/authorize?${authorization(client.id)}`);
      const code = new URL(location, BACK).searchParams.get('code') ?? '';
      const asked = { grant_type: 'authorization_code', code, redirect_uri: BACK, code_verifier: VERIFIER };
      found.push(formRequest(boxgate.path('/auth/token'), asked, client));
    }
    return found;
  };
  return (await Promise.all(Array.from({ length: people }, ofPerson))).flat();
}

async function statementRow({ postgres }: BenchContext): Promise<Row> {
  const log = await readFile(postgres.logFile, 'utf8');
  const times = [...log.matchAll(/duration: ([\d.]+) ms/g)].map(([, time]) => Number(time));
  const longest = Math.max(0, ...times);
  return {
    what: 'the slowest statement of these',
    goal: `<= ${String(slowestStatement)} ms`,
    figure:
      times.length === 0
        ? `below ${String(slowestStatement)} ms`
        : `${milliseconds(longest)} (${String(times.length)} took longer than ${String(slowestStatement)} ms)`,
    verdict: verdictOf(times.length === 0),
  };
}
