import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startCaller, type Call, type Caller } from '../caller/caller.ts';
import { createSystemNamespace, install, system, type Values } from '../installation.ts';
import { kubectl, readObject, untilReady } from '../kubectl.ts';
import { createNamespace, declare } from '../namespace.ts';
import { startPostgres } from '../postgres.ts';
import { removeInstallation } from '../remove-installation.ts';
import { runCommand } from '../run-command.ts';
import { report, timed } from '../timed.ts';
import { bearer, boxUrl, secretEntries, tokenOf, tokenRequest } from '../token.ts';
import { eventually } from '../../support/eventually.ts';

const databases = ['home', 'eu'] as const;
const [placed, moved] = ['placed', 'moved'];

describe('story 12: boxes on two Postgres', () => {
  let caller: Caller;
  let request: Call;

  before(async () => {
    await removeInstallation();
    await createSystemNamespace();
    await Promise.all(databases.map((name) => startPostgres(`database-${name}`)));
    await timed('helm install with two databases', () =>
      install({ 'postgres.bundled.enabled': 'false', ...valuesOf(0), ...valuesOf(1) }),
    );
    for (const name of [placed, moved]) await createNamespace(name);
    await kubectl('annotate', 'namespace', placed, 'boxgate.dev/database=eu');
    for (const name of [placed, moved]) {
      await declare(name, [
        { kind: 'Box', name: 'box', spec: {} },
        { kind: 'Client', name: 'till', spec: { grant_types: ['client_credentials'], generateSecret: {} } },
        {
          kind: 'AccessPolicy',
          name: 'till',
          spec: { engine: 'allow', link: [{ resourceType: 'Client', id: 'till' }] },
        },
      ]);
      await untilReady('boxes,clients,accesspolicies', name);
    }
    caller = await startCaller({ namespace: moved, name: 'till', secret: 'till' });
    const file = (name: string) => caller.read(`/secret/${name}`);
    request = tokenRequest(await file('in_cluster_token_url'), await file('client_id'), await file('client_secret'));
  });
  after(async () => {
    await caller.close();
    await removeInstallation();
  });

  it('shows the database of each box: of its Namespace, otherwise home', async () => {
    expect(await shown()).to.deep.equal({ [placed]: 'eu', [moved]: 'home' });
  });

  for (const database of ['eu', 'home'] as const)
    it(`moves a box to ${database} by one command: no token is lost, and callers are told to try again`, async () => {
      const sessions = `${boxUrl(moved)}/Session`;
      const before = await tokenOf(caller, request);
      await caller.startLoad({ token: request, resource: sessions, workers: 4, pause: 20 });
      const said = await timed('boxctl box move', () => runCommand('./boxctl', ['box', 'move', moved, database]));
      const { served, tokens, failures } = await caller.stopLoad();
      const count = (one: boolean) => failures.filter(({ step }) => (step === 'token') === one).length;
      report(
        'load during the move',
        `${served} answers, ${tokens} tokens, not ${count(true)} tokens, ${count(false)} checks`,
      );
      expect(said).to.equal(`The box ${moved} is in the database ${database}.\n`);
      expect(await shown()).to.deep.equal({ [placed]: 'eu', [moved]: database });
      expect(failures.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).to.deep.equal([]);
      for (const token of [before, await tokenOf(caller, request)])
        expect((await caller.call(bearer(sessions, token))).status).to.equal(200);
    });

  it('serves no box of a database restored from yesterday, until its loss is accepted as the guide says', async () => {
    const secret = secretEntries(await readObject({ object: 'secret/till', namespace: placed }));
    const own = tokenRequest(secret['in_cluster_token_url'] ?? '', 'till', secret['client_secret'] ?? '');
    const [kept, revoked] = [await tokenOf(caller, own), await tokenOf(caller, own)];
    await query('eu', backUp);
    const yesterday = await beatOfEu();
    await eventually('a token can be revoked', async () => {
      return (await caller.call(bearer(`${boxUrl(placed)}/Session`, revoked, 'DELETE'))).status < 300;
    });
    await eventually('the backup is an old one', async () => (await beatOfEu()) !== yesterday);
    await timed('restore of a database', () => query('eu', restore));

    await eventually('the box is refused', async () => (await caller.call(own)).body.includes('DataMissing'));
    expect((await caller.call(bearer(`${boxUrl(placed)}/Session`, revoked))).status).to.equal(503);
    expect((await caller.call(request)).status, 'a box on the other database').to.equal(200);
    let version = '';
    await eventually('the status tells the version that is left', async () => {
      const told = await kubectl('get', 'box', 'box', '--namespace', placed, '--output', 'jsonpath={.status}');
      version = /has the version (\d+)/.exec(told)?.[1] ?? '';
      return version !== '';
    });
    await kubectl('annotate', 'namespace', placed, `${acceptance()}=${version}`);
    await eventually('the box is served', async () => (await caller.call(own)).status === 200);
    for (const token of [kept, revoked])
      expect((await caller.call(bearer(`${boxUrl(placed)}/Session`, token))).status).to.equal(401);
    const issued = await tokenOf(caller, own);
    expect((await caller.call(bearer(`${boxUrl(placed)}/Session`, issued))).status).to.equal(200);
    await untilReady('boxes,clients,accesspolicies', placed);
  });

  /** Runs statements as the superuser of a database's Postgres. Returns the first row of the last one, as JSON. */
  async function query(
    name: (typeof databases)[number],
    statements: readonly string[],
    within = 'postgres',
  ): Promise<string> {
    const superuser = await readObject({ object: `secret/database-${name}-superuser`, namespace: system });
    const url = new URL(secretEntries(superuser)['uri'] ?? '');
    url.pathname = within;
    const command = ['node', '--input-type=module', '--eval', program, url.href];
    return kubectl('exec', '--namespace', moved, 'till', '--', ...command, ...statements);
  }

  /** Returns the beat of the database eu that home knows: a backup has an older one. */
  async function beatOfEu(): Promise<string> {
    return query('home', ["SELECT beat FROM boxgate.database WHERE name = 'eu'"], 'boxgate');
  }
});

/** Runs the statements that its parameters are, at the URL before them. */
const program = `
  import pg from 'pg';
  const [, url, ...statements] = process.argv;
  const client = new pg.Client(url);
  await client.connect();
  let row;
  for (const text of statements) row = (await client.query(text)).rows[0];
  await client.end();
  process.stdout.write(JSON.stringify(row ?? null));
`;

/** The API's connections end for a moment: only a database without any can be copied. */
const backUp = [
  'ALTER DATABASE boxgate ALLOW_CONNECTIONS false',
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'boxgate'",
  'CREATE DATABASE backup TEMPLATE boxgate OWNER boxgate_owner',
  'ALTER DATABASE boxgate ALLOW_CONNECTIONS true',
  'ALTER DATABASE backup ALLOW_CONNECTIONS true',
];
const restore = ['DROP DATABASE boxgate WITH (FORCE)', 'ALTER DATABASE backup RENAME TO boxgate'];

/** Returns the annotation of the guide that accepts a loss. */
function acceptance(): string {
  const guide = readFileSync('docs/guides/scale.md', 'utf8');
  const [, block = ''] = /### Restore a database[\s\S]*?```yaml\n([\s\S]*?)```/.exec(guide) ?? [];
  return /^\S+(?=:)/.exec(block)?.[0] ?? '';
}

/** Returns the values of the chart for a database. */
function valuesOf(index: 0 | 1): Values {
  const entry = `databases[${String(index)}]`;
  const name = databases[index];
  return {
    [`${entry}.name`]: name,
    [`${entry}.owner.secretName`]: `database-${name}-owner`,
    [`${entry}.api.secretName`]: `database-${name}-api`,
  };
}

/** Returns the column DATABASE of `kubectl get boxes`, by namespace. */
async function shown(): Promise<Readonly<Record<string, string | undefined>>> {
  const lines = (await kubectl('get', 'boxes', '--all-namespaces')).trim().split('\n');
  const [heading = [], ...rows] = lines.map((line) => line.trim().split(/ {2,}/));
  const column = heading.indexOf('DATABASE');
  return Object.fromEntries(rows.map((row) => [row[0] ?? '', row[column]]));
}
