import { expect } from 'chai';
import { runBoxgate } from '../dev/boxgate-process.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { bareDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

type Named = Readonly<Record<string, TestDatabase>>;

describe('boxgate migrate of several databases', () => {
  let home: TestDatabase;
  let eu: TestDatabase;
  let us: TestDatabase;
  let stranger: TestDatabase;

  before(async () => {
    [home, eu] = [await bareDatabase(), await bareDatabase()];
    [us, stranger] = [await bareDatabase(), await bareDatabase()];
  });
  after(() => Promise.all([home, eu, us, stranger].map((database) => database.drop())));

  /** Migrates databases, home first; returns the exit code, and the lines that it printed. */
  async function migrated(databases: Named): Promise<{ readonly code: unknown; readonly said: readonly string[] }> {
    const urls = Object.entries(databases).flatMap(([name, { ownerUrl, apiUrl }], index) => {
      const suffix = index === 0 ? '' : `_${name.toUpperCase()}`;
      return [[`BOXGATE_OWNER_URL${suffix}`, ownerUrl] as const, [`BOXGATE_DATABASE_URL${suffix}`, apiUrl] as const];
    });
    const environment = { ...Object.fromEntries(urls), BOXGATE_DATABASES: Object.keys(databases).join(',') };
    const { code, stdout, stderr } = await runBoxgate(['migrate'], { environment });
    const lines = (stdout + stderr).trim().split('\n');
    return { code, said: lines.filter((line) => !line.includes('BOXGATE_TEST_')) };
  }

  const entered = async (): Promise<readonly unknown[]> =>
    (await ownerQuery({ database: home }, 'SELECT name FROM boxgate.database ORDER BY name', [])).map(
      ({ name }) => name,
    );

  /** A database that cannot be reached. */
  const away = {
    ownerUrl: 'postgres://o@127.0.0.1:1/x',
    apiUrl: 'postgres://a@127.0.0.1:1/x',
    drop: async () => undefined,
  };

  it('names one that fails, and migrates and enters the others', async () => {
    const { code, said } = await migrated({ home, away, eu });
    expect(code).to.equal(1);
    expect(said).to.have.length(3);
    expect(said[0]).to.match(/^schema \d+ home: applied schema\.sql$/);
    expect(said[1]).to.match(/^schema \d+ eu: applied schema\.sql$/);
    expect(said[2]).to.match(/^boxgate: database away: .*ECONNREFUSED/);
    expect(await entered()).to.deep.equal(['eu', 'home']);
  });

  it('enters a new one, and has nothing to do at the others, in any order behind home', async () => {
    const { code, said } = await migrated({ home, us, eu });
    expect(code, said.join()).to.equal(0);
    expect(said.map((line) => line.replace(/^schema \d+ /, ''))).to.deep.equal([
      'home: nothing to do',
      'us: applied schema.sql',
      'eu: nothing to do',
    ]);
    expect(await entered()).to.deep.equal(['eu', 'home', 'us']);
  });

  it('migrates the others of a home database that is away, and enters none', async () => {
    const { code, said } = await migrated({ away, stranger });
    expect(code).to.equal(1);
    expect(said[0]).to.match(/^schema \d+ stranger: applied schema\.sql$/);
    expect(said).to.have.length(2);
    expect(await ownerQuery({ database: stranger }, 'SELECT id FROM boxgate.identity', [])).to.deep.equal([]);
  });

  it('refuses one database under two names', async () => {
    const { code, said } = await migrated({ home, eu, again: eu });
    expect(code).to.equal(1);
    expect(said.at(-1)).to.equal(
      'boxgate: database again: The databases eu and again are one and the same: leave one of the names out',
    );
    expect(await entered()).to.deep.equal(['eu', 'home', 'us']);
  });

  it('refuses another database under an old name', async () => {
    const { code, said } = await migrated({ home, eu: us });
    expect(code).to.equal(1);
    expect(said.at(-1)).to.equal(
      'boxgate: database eu: The database eu is not the one that had this name before: give it the URL that it had, or another name',
    );
  });

  it('refuses a database of another installation', async () => {
    expect((await migrated({ home: stranger })).code).to.equal(0);
    const { code, said } = await migrated({ home, asia: stranger });
    expect(code).to.equal(1);
    expect(said.at(-1)).to.equal(
      'boxgate: database asia: The database asia belongs to another installation of Boxgate: use an empty one',
    );
    expect(await entered()).to.deep.equal(['eu', 'home', 'us']);
  });
});
