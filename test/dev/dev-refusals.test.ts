import { expect } from 'chai';
import { existsSync, readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { openStateFolder } from '../../dev/processes/state-folder.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { runBoxgate } from './boxgate-process.ts';
import { anyPorts } from './dev-process.ts';
import { clientYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';
import { portOf } from '../../program/environment.ts';

describe('boxgate dev, which cannot begin', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;

  before(async () => {
    folder = temporaryFolder();
    folder.write('manifests/client.yaml', clientYaml('client'));
    database = await freshDatabase();
  });
  after(async () => {
    folder.remove();
    await database.drop();
  });

  const manifests = (): string => folder.path('manifests');

  /** One sentence on standard error and nothing else; for usage, the usage below it. */
  async function refused(args: readonly string[]): Promise<{ code: unknown; sentence: string; usage: string }> {
    const { code, stdout, stderr } = await runBoxgate(['dev', ...args]);
    expect(stdout).to.equal('');
    const [, sentence = '', usage = ''] = /^boxgate: (.+)\n(?:\n(Usage: [^]+))?$/.exec(stderr) ?? [];
    expect(sentence, stderr).not.to.equal('');
    return { code, sentence, usage };
  }

  it('without a folder it says how it is used, and ends with 2', async () => {
    const { code, sentence, usage } = await refused([]);
    expect({ code, sentence }).to.deep.equal({
      code: 2,
      sentence: 'Which folder? `boxgate dev` needs the one that holds the manifests',
    });
    for (const option of ['dev <folder>', '--port', '--management-port', '--state', '--database-url', '--once']) {
      expect(usage).to.include(option);
    }
  });

  it('with an option that there is not it says which, and ends with 2', async () => {
    const { code, sentence } = await refused([manifests(), '--prot', '1']);
    expect({ code, sentence }).to.deep.equal({ code: 2, sentence: "Unknown option '--prot'. Did you mean `--port`?" });
    expect(existsSync(folder.path('manifests/.boxgate'))).to.equal(false);
  });

  it('on a folder that is not there it makes none', async () => {
    const sentence = `The folder ${folder.path('nowhere')} cannot be read: it is not there`;
    expect(await refused([folder.path('nowhere'), ...anyPorts])).to.deep.equal({ code: 1, sentence, usage: '' });
    expect(existsSync(folder.path('nowhere'))).to.equal(false);
  });

  describe('on a port that is in use', () => {
    const servers: Server[] = [];

    /** Takes a port, and says which it is. */
    async function occupy(): Promise<number> {
      const server = createServer();
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      servers.push(server);
      return portOf(server);
    }
    afterEach(() => {
      for (const server of servers.splice(0)) server.close();
    });

    it('says which, all at once, and how to choose others', async () => {
      const [one, other] = [String(await occupy()), String(await occupy())];
      const sentence = `Port ${one} is in use; choose another with --port (0: any free one)`;
      for (const args of [
        ['--port', one],
        ['--port', one, '--management-port', '0'],
      ]) {
        expect(await refused([manifests(), ...args])).to.deep.equal({ code: 1, sentence, usage: '' });
      }
      const both = [manifests(), '--port', one, '--management-port', other];
      expect((await refused(both)).sentence).to.equal(
        `Ports ${one} and ${other} are in use; choose others with --port and --management-port (0: any free one)`,
      );
      expect(readdirSync(folder.path('manifests/.boxgate')), 'a Postgres was started').not.to.include('data');
    });
  });

  it('on a state folder that is a file it says so', async () => {
    folder.write('file', '');
    const sentence = `The state folder ${folder.path('file')} cannot be used: it is not a folder`;
    const state = ['--state', folder.path('file')];
    expect(await refused([manifests(), ...anyPorts, ...state])).to.deep.equal({ code: 1, sentence, usage: '' });
  });

  it('on a state folder whose keys are damaged it says so, and makes no new ones', async () => {
    folder.write('state/keys.json', '{"postgresPassword": "canary"');
    const { code, sentence } = await refused([manifests(), ...anyPorts, '--state', folder.path('state')]);
    expect(code).to.equal(1);
    expect(sentence).to.match(/\/state\/keys\.json is damaged; restore it, or remove the state folder/);
  });

  it('on data of another Postgres it says where to look, and ends at once', async () => {
    openStateFolder(folder.path('older')).release();
    folder.write('older/data/PG_VERSION', '11\n');
    const { code, sentence } = await refused([manifests(), ...anyPorts, '--state', folder.path('older')]);
    expect(code).to.equal(1);
    expect(sentence).to.match(/^Postgres ended with code \d+ at its start; see \S+\/older\/postgres\.log$/);
  });

  it('with a file of several databases that is none it says what is wrong, without a password', async () => {
    const cases: readonly (readonly [text: string, said: RegExp])[] = [
      ['databases: [{ name: canary', /\/several\.yaml cannot be read: /],
      ['a: canary', /\/several\.yaml has no list databases$/],
      ['databases: [{ name: home, ownerUrl: canary }]', /: databases\[0\] needs a name, and ownerUrl as postgres:\/\//],
    ];
    for (const [text, said] of cases) {
      folder.write('several.yaml', text);
      const options = ['--state', folder.path('elsewhere'), '--databases', folder.path('several.yaml')];
      const { code, sentence } = await refused([manifests(), ...anyPorts, ...options]);
      expect(code).to.equal(1);
      expect(sentence).to.match(said).and.not.include('canary');
    }
  });

  describe('on a database', () => {
    async function refusedOn(url: string, more: readonly string[] = []): Promise<string> {
      const state = ['--state', folder.path('elsewhere')];
      const { code, sentence } = await refused([manifests(), ...anyPorts, ...state, '--database-url', url, ...more]);
      expect(code).to.equal(1);
      expect(sentence).not.to.include('canary');
      return sentence;
    }

    it('that is away it says so, without the password', async () => {
      const sentence = await refusedOn('postgres://owner:canary@127.0.0.1:1/boxgate');
      expect(sentence).to.match(/cannot be created in this database: connect ECONNREFUSED 127\.0\.0\.1:1$/);
    });

    it('whose password is another one it says so, without it', async () => {
      const url = new URL(database.ownerUrl);
      url.password = 'canary';
      expect(await refusedOn(url.href)).to.match(/password authentication failed/);
    });

    it('that belongs to somebody else it says so', async () => {
      expect(await refusedOn(database.apiUrl, ['--api-database-url', database.ownerUrl])).to.match(
        /^boxgate_api is no member of boxgate_owner, which owns the schema boxgate: migrate as boxgate_owner$/,
      );
    });

    it('whose owner may create no role it prints the statement, and creates nothing', async () => {
      // E-01: dev ran CREATE or ALTER ROLE always, which such an owner may not.
      const role = `boxgate_api_${new URL(database.ownerUrl).pathname.slice(1)}`;
      expect(await refusedOn(database.ownerUrl)).to.include(`run CREATE ROLE "${role}" LOGIN PASSWORD '…', then give`);
    });

    it('with a role that row-level security does not bind it says so', async () => {
      expect(await refusedOn(database.ownerUrl, ['--api-database-url', database.ownerUrl])).to.match(
        /^Row-level security does not bind "boxgate_owner", which owns the tables, .*: use a role of the API's own$/,
      );
    });
  });
});
