import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { readMigrations } from '../../../api/db/core/migrate.ts';
import { Outage } from '../../../api/db/core/outage.ts';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { checkDatabase } from '../../../api/db/core/startup.ts';
import { asOwner, bareDatabase, freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';

describe('the check of a database before the API serves', () => {
  let database: TestDatabase;
  let owner: pg.Pool;

  before(async () => {
    database = await freshDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl, max: 1 });
  });
  after(async () => {
    await owner.end();
    await database.drop();
  });

  /** Returns the error of the check; undefined if the API may serve. */
  async function refusal(change: { port?: string; user?: string; password?: string } = {}, of = database.apiUrl) {
    const url = new URL(of);
    if (change.port !== undefined) url.port = change.port;
    if (change.user !== undefined) url.username = change.user;
    if (change.password !== undefined) url.password = change.password;
    const pool = createPool(url.href, { ...defaultLimits, connections: 1 }, 'startup-test', () => undefined);
    try {
      await checkDatabase(pool);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error('no error');
    } finally {
      await pool.end();
    }
  }

  it('finds nothing wrong with a migrated one and a role of the API’s own', async () => {
    expect(await refusal()).to.equal(undefined);
  });

  it('says which command makes the schema when there is none, or none that the role may see', async () => {
    const bare = await bareDatabase();
    expect((await refusal({}, bare.apiUrl))?.message).to.match(/is at schema 0, .*: run boxgate migrate$/);
    await bare.drop();
    await owner.query('REVOKE ALL ON SCHEMA boxgate FROM boxgate_api');
    expect((await refusal())?.message).to.match(/is at schema 0, .*: run boxgate migrate$/);
    await owner.query('GRANT USAGE ON SCHEMA boxgate TO boxgate_api');
  });

  it('takes a schema that is newer than this release', async () => {
    await owner.query("INSERT INTO boxgate.schema_version (number, name, hash) VALUES (99, '0099_a.sql', 'b')");
    expect(await refusal()).to.equal(undefined);
    await owner.query('DELETE FROM boxgate.schema_version WHERE number = 99');
  });

  it('refuses a database that was made before the first release', async () => {
    const bare = await bareDatabase();
    const client = new pg.Client({ connectionString: bare.ownerUrl });
    await client.connect();
    await client.query(await readFile(new URL('before-the-first-release.sql', import.meta.url), 'utf8'));
    await client.end();
    const error = await refusal({}, bare.apiUrl);
    expect(error).to.not.be.instanceOf(Outage);
    expect(error?.message).to.equal('The database was made before the first release of Boxgate: use an empty one');
    await bare.drop();
  });

  it('is an outage when a newer schema serves newer releases only, and takes one that names an older release', async () => {
    const known = (await readMigrations()).length;
    const applied = async (from: number): Promise<void> => {
      await owner.query('DELETE FROM boxgate.schema_version WHERE number > $1', [known]);
      const names = [`0098_drop_a_from_${String(from).padStart(4, '0')}.sql`, '0099_add_b.sql'];
      await owner.query(
        "INSERT INTO boxgate.schema_version (number, name, hash) SELECT 98 + n - 1, name, 'x' FROM unnest($1::text[]) WITH ORDINALITY AS t (name, n)",
        [names],
      );
    };
    await applied(known + 1);
    const versions = `serves releases from schema ${String(known + 1)}; this one has ${String(known)}`;
    expect(await refusal())
      .to.be.instanceOf(Outage)
      .with.property(
        'message',
        `The database is at schema 99, which ${versions}: run a newer release, or restore a backup`,
      );
    await applied(known);
    expect(await refusal()).to.equal(undefined);
    await owner.query('DELETE FROM boxgate.schema_version WHERE number > $1', [known]);
  });

  const unbound: readonly (readonly [what: string, attributes: string, sentence: RegExp])[] = [
    ['a superuser', 'SUPERUSER', /is a superuser or has BYPASSRLS/],
    ['a role with BYPASSRLS', 'BYPASSRLS', /is a superuser or has BYPASSRLS/],
    ['a member of the owner', 'IN ROLE boxgate_owner', /is an owner of the tables/],
  ];
  for (const [what, attributes, sentence] of unbound) {
    it(`K-07 refuses ${what}: row-level security does not bind it`, async () => {
      const role = `unbound_${String(process.pid)}`;
      await asOwner('postgres', async (superuser) => {
        await superuser.query(`CREATE ROLE ${role} LOGIN PASSWORD 'canary' ${attributes}`);
        expect((await refusal({ user: role, password: 'canary' }))?.message).to.match(sentence);
        await superuser.query(`DROP ROLE ${role}`);
      });
    });
  }

  it('X-15 is an outage when Postgres is away or refuses the login, and none when it is read-only', async () => {
    expect(await refusal({ port: '1' })).to.be.instanceOf(Outage);
    expect(await refusal({ password: 'wrong' })).to.be.instanceOf(Outage);
    const name = new URL(database.apiUrl).pathname.slice(1);
    await owner.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await refusal()).to.equal(undefined);
    await owner.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    expect(await refusal()).to.equal(undefined);
  });
});
