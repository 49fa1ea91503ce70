import { expect } from 'chai';
import { startCaller, type Call, type Caller } from '../caller/caller.ts';
import { createSystemNamespace, install, type Values } from '../installation.ts';
import { kubectl, untilReady } from '../kubectl.ts';
import { createNamespace, declare } from '../namespace.ts';
import { startPostgres } from '../postgres.ts';
import { removeInstallation } from '../remove-installation.ts';
import { runCommand } from '../run-command.ts';
import { report, timed } from '../timed.ts';
import { bearer, boxUrl, tokenOf, tokenRequest } from '../token.ts';

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
    await declare(placed, [{ kind: 'Box', name: 'box', spec: {} }]);
    await declare(moved, [
      { kind: 'Box', name: 'box', spec: {} },
      { kind: 'Client', name: 'till', spec: { grant_types: ['client_credentials'], generateSecret: {} } },
      { kind: 'AccessPolicy', name: 'till', spec: { engine: 'allow', link: [{ resourceType: 'Client', id: 'till' }] } },
    ]);
    await untilReady('boxes', placed);
    await untilReady('boxes,clients,accesspolicies', moved);
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
});

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
