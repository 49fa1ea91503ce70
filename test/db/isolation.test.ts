import { expect } from 'chai';
import type pg from 'pg';
import { bucketOf } from '../../api/db/session/bucket.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

const boxes = ['alpha', 'beta'];
const now = Math.floor(Date.now() / 1000);
const bucket = bucketOf(now, now + 3600);
const expiry = Math.floor(now / 86_400) + 90;
const id = '0197a0a0-0000-7000-8000-000000000001';

/** One row of each table in a box, with the same keys in every box; the columns that RLS leaves free. */
const rowsOf: Readonly<Record<string, (box: string) => string>> = {
  box: (box) => `(box) VALUES ('${box}')`,
  resource: (box) =>
    `(box, kind, id, version, body, secrets) VALUES ('${box}', 'Client', 'same', 1, '{"name": "${box}"}', '{${box}}')`,
  box_use: (box) => `(box) VALUES ('${box}')`,
  box_host: (box) => `(host, box, cluster) VALUES ('${box}.example', '${box}', 'test')`,
  box_version: (box) => `(box, version) VALUES ('${box}', 1)`,
  session_count: (box) => `(box, active) VALUES ('${box}', 1)`,
  session_room: (box) => `(box, client, most, room) VALUES ('${box}', 'same', 1, 1)`,
  client_usage: (box) => `(box, client, last_token_at) VALUES ('${box}', 'same', now())`,
  used_assertion: (box) => `(box, client, jti, request, expires_at) VALUES ('${box}', 'same', '\\x00', '${id}', now())`,
  service_account_pin: (box) => `(box, client, namespace, name, uid) VALUES ('${box}', 'same', 'apps', 'same', 'uid')`,
  recorded_request: (box) =>
    `(box, client, principal, app, method, shape, policy, requests, first_seen_at, last_seen_at)
     VALUES ('${box}', 'same', 'client', '', 'GET', '/Client', 'same', 1, now(), now())`,
  policy_use: (box) => `(box, policy, last_used_at) VALUES ('${box}', 'same', now())`,
  failed_attempt: (box) => `(box, subject, ends_at, failures) VALUES ('${box}', 'same', now(), 1)`,
  last_id: (box) => `(box, kind, id) VALUES ('${box}', 'User', 1)`,
  user: (box) => `(box, id, email, email_key, password, pepper) VALUES ('${box}', 1, 'a@${box}', 'a@same', '', '')`,
  group: (box) => `(box, id, name, version) VALUES ('${box}', 1, 'same', 1)`,
  group_member: (box) => `(box, user_id, group_id) VALUES ('${box}', 1, 1)`,
  sign_in: (box) =>
    `(box, browser, user_id, version, created_at, expires_at) VALUES ('${box}', '\\x00', 1, 1, now(), now())`,
  consent: (box) => `(box, user_id, client, scopes, version, created_at) VALUES ('${box}', 1, 'same', '{}', 1, now())`,
  consent_target: (box) =>
    `(box, user_id, client, target, redirect_uri, scopes, version, created_at) VALUES ('${box}', 1, 'same', '', '', '{}', 1, now())`,
  consent_request: (box) =>
    `(box, id, browser, query, expires_at) VALUES ('${box}', '${id}', '\\x00', '?x=${box}', now())`,
  authorization_code: (box) =>
    `(box, id, client, user_id, version, browser, redirect_uri, created_at, expires_at, kept_until, authenticated_at)
     VALUES ('${box}', '${id}', 'same', 1, 1, '\\x00', 'https://a.example', now(), now(), now(), now())`,
  audit_event: (box) =>
    `(box, id, version, created_at, day, event, result)
     VALUES ('${box}', '${id}', 1, now(), ${String(expiry)}, 'user.deleted', 'success')`,
  tombstone: (box) => `(box, kind, id, version) VALUES ('${box}', 'Client', 'gone', 1)`,
  revocation: (box) => `(box, subject, version) VALUES ('${box}', 'client:same', 1)`,
  signing_key: (box) =>
    `(box, kid, algorithm, public_jwk, private_key, active_from, signed_until)
     VALUES ('${box}', 'same', 'ES256', '{}', '\\x00', now(), now())`,
  refresh_family: (box) =>
    `(box, id, client, version, family_hash, token_hash, session, created_at, last_used_at, expires_at, ends_at,
      sessions_end, grant_type)
     VALUES ('${box}', '${id}', 'same', 1, '\\x00', '\\x00', '${id}', now(), now(), now(), now(), now(), 'c')`,
  session: (box) =>
    `(box, id, version, expires_at, bucket, type, client)
     VALUES ('${box}', '${id}', 1, now() + interval '1 hour', ${String(bucket)}, 'c', 'same')`,
};
const tables = Object.keys(rowsOf);

/** A column that the API may change. */
const columnOf = (table: string): string => (table === 'box' ? 'sessions_full' : 'box');

/** Tables whose rows the API may not change: no statement of an update reaches a row. */
const appendOnly: readonly string[] = ['audit_event'];

/** Functions that run as the owner of the tables, whom row-level security does not bind, by the reason. */
const runAsOwner: Readonly<Record<string, readonly string[]>> = {
  'hot lane: one call serves the requests of many boxes': [
    ...['box_of_host', 'boxes_in_use', 'check_sessions', 'check_sessions_in', 'config_versions'],
    ...['find_refresh_families', 'find_service_accounts', 'issue_families', 'issue_sessions'],
    ...['use_assertions', 'use_refresh_tokens'],
  ],
  'guesses at secrets and passwords of many boxes are counted together': ['add_failures', 'count_failures'],
  'an operator acts on all boxes of its cluster': ['adopt_cluster', 'assign_hosts', 'declared_boxes'],
  'upkeep over all boxes': [
    ...['all_boxes', 'audit_retentions', 'delete_expired', 'moved_boxes', 'newest_signing_key', 'note_issued'],
    ...['note_usage', 'record_requests', 'store_counted_events', 'trim_requests'],
  ],
  'a box that is moved, in tables that the API may not delete from': ['forget_box', 'receive_rows'],
  'partitions, which the API may neither create nor drop': [
    ...['drop_audit_day', 'drop_bucket', 'make_audit_days', 'make_buckets'],
  ],
  'discarded data, in tables that the API may not delete from': [
    ...['delete_audit_events', 'delete_records', 'end_box_data', 'prune_revocations'],
  ],
};

/** Functions that run as the caller and read rows of a box, with their parameters. */
const runAsCaller: Readonly<Record<string, (box: string) => string>> = {
  audit_day: (box) => `'${box}'`,
  audit_retention: (box) => `'${box}'`,
  groups_of: (box) => `'${box}', 1`,
  living_family: (box) => `'${box}', '${id}'`,
  living_user: (box) => `'${box}', 1, 1`,
};

/**
 * Functions that run as the caller and are asked for no box: of partitions, of the clock, of the box that the
 * transaction names, and of the directory of the installation.
 */
const askForNoBox = ['filled_buckets', 'filled_days', 'demand_here', 'is_elsewhere'];

type Told = Readonly<Record<string, unknown>>;

describe('hand-written SQL under the API’s role', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let owner: pg.Pool;

  before(async () => {
    database = await freshDatabase();
    pool = createPool(database.apiUrl, defaultLimits, 'isolation-test', () => undefined);
    owner = createPool(database.ownerUrl, { ...defaultLimits, statementTimeout: 30_000 }, 'owner', () => undefined);
    await owner.query("INSERT INTO boxgate.box (box) VALUES ('empty')");
    for (const box of boxes) {
      for (const [table, row] of Object.entries(rowsOf)) {
        await owner.query(`INSERT INTO boxgate.${table} ${row(box)}`);
      }
    }
  });
  after(async () => {
    await Promise.all([pool.end(), owner.end()]);
    await database.drop();
  });

  /** Runs statements in a transaction that is rolled back; `setting` is what the transaction says of its box. */
  async function attempt(setting: string | undefined, ...statements: readonly string[]): Promise<pg.QueryResult<Told>> {
    const connection = await pool.connect();
    try {
      await connection.query('BEGIN');
      if (setting !== undefined) await connection.query("SELECT set_config('boxgate.box', $1, true)", [setting]);
      let result = await connection.query<Told>('SELECT 1 WHERE false');
      for (const statement of statements) result = await connection.query<Told>(statement);
      return result;
    } finally {
      await connection.query('ROLLBACK');
      connection.release();
    }
  }

  async function refusal(setting: string | undefined, ...statements: readonly string[]): Promise<string> {
    try {
      const { rowCount } = await attempt(setting, ...statements);
      return `worked on ${String(rowCount)} rows`;
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    }
  }

  it('K-07 has a row of every table of a box to be kept apart', async () => {
    const { rows } = await owner.query<{ relname: string }>(
      `SELECT relname FROM pg_class c
        WHERE relnamespace = 'boxgate'::regnamespace AND NOT relispartition AND relkind IN ('r', 'p')
          AND relname <> 'placement'
          AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'box') ORDER BY relname`,
    );
    expect(rows.map(({ relname }) => relname)).to.deep.equal(tables.toSorted());
  });

  for (const table of tables) {
    describe(`on ${table}`, () => {
      for (const setting of [undefined, '', 'alph', 'gamma', 'ALPHA', 'alpha ', '%', "alpha' OR true --"]) {
        it(`K-07 sees no row when the transaction names ${setting === undefined ? 'no box' : `"${setting}"`}`, async () => {
          expect((await attempt(setting, `SELECT * FROM boxgate.${table}`)).rows).to.deep.equal([]);
          if (appendOnly.includes(table)) return;
          expect(
            (await attempt(setting, `UPDATE boxgate.${table} SET ${columnOf(table)} = ${columnOf(table)}`)).rowCount,
          ).to.equal(0);
        });
      }

      it('K-07 sees only the rows of the box that the transaction names, whatever it asks for', async () => {
        for (const box of boxes) {
          const wanted = [
            `SELECT * FROM boxgate.${table}`,
            `SELECT * FROM boxgate.${table} WHERE box IN ('alpha', 'beta') OR true`,
            `SELECT b.* FROM boxgate.box a FULL JOIN boxgate.${table} b ON true`,
            ...(appendOnly.includes(table)
              ? []
              : [`UPDATE boxgate.${table} SET ${columnOf(table)} = ${columnOf(table)} RETURNING *`]),
          ];
          for (const statement of wanted) {
            expect((await attempt(box, statement)).rows.map(({ box: of }) => String(of))).to.deep.equal([box]);
          }
        }
      });

      it('K-07 stores no row in another box', async () => {
        await owner.query(`INSERT INTO boxgate.box (box) VALUES ('third') ON CONFLICT DO NOTHING`);
        const insert = `INSERT INTO boxgate.${table} ${rowsOf[table]?.(table === 'box' ? 'fourth' : 'third') ?? ''}`;
        expect(await refusal('alpha', insert)).to.equal('42501');
        expect(await refusal(undefined, insert)).to.equal('42501');
        expect(await refusal('alpha', `${insert} ON CONFLICT DO NOTHING`)).to.equal('42501');
        expect(await refusal('alpha', `UPDATE boxgate.${table} SET box = 'third'`)).to.equal('42501');
      });

      it('cannot empty, change, drop or give it away', async () => {
        for (const statement of [
          `TRUNCATE boxgate.${table}`,
          `DROP TABLE boxgate.${table}`,
          `ALTER TABLE boxgate.${table} DISABLE ROW LEVEL SECURITY`,
          `ALTER TABLE boxgate.${table} ADD COLUMN extra text`,
          `DROP POLICY own_box ON boxgate.${table}`,
          `CREATE POLICY mine ON boxgate.${table} USING (true)`,
          `CREATE INDEX ON boxgate.${table} (box)`,
          `CREATE TRIGGER mine BEFORE INSERT ON boxgate.${table} EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
          `ALTER TABLE boxgate.${table} OWNER TO CURRENT_USER`,
        ]) {
          expect(await refusal('alpha', statement), statement).to.equal('42501');
        }
        const { rows } = await attempt('alpha', `GRANT SELECT ON boxgate.${table} TO PUBLIC`).catch(() => ({
          rows: [],
        }));
        expect(rows).to.deep.equal([]);
      });
    });
  }

  it('K-07 reads no partition by its name, nor the rows that never are deleted', async () => {
    const partition = `boxgate.session_${String(bucket)}`;
    for (const statement of [
      `SELECT * FROM ${partition}`,
      `INSERT INTO ${partition} ${rowsOf['session']?.('alpha') ?? ''}`,
      `UPDATE ${partition} SET ended_at = NULL`,
      `DELETE FROM ${partition}`,
      `COPY ${partition} TO STDOUT`,
      `ALTER TABLE boxgate.session DETACH PARTITION ${partition}`,
      'DELETE FROM boxgate.session',
      'DELETE FROM boxgate.box',
      // E-25 j: what is older than records_from may be deleted, the audit trail too.
      'UPDATE boxgate.box SET records_from = config_version',
      "INSERT INTO boxgate.box (box, records_from) VALUES ('new', 1)",
      'DELETE FROM boxgate.revocation',
      'DELETE FROM boxgate.operator_epoch',
      'DELETE FROM boxgate.schema_version',
      "UPDATE boxgate.schema_version SET hash = ''",
      "INSERT INTO boxgate.schema_version VALUES (9, 'a', 'b')",
    ]) {
      expect(await refusal('alpha', statement), statement).to.equal('42501');
    }
  });

  it('makes nothing outside of its rows', async () => {
    for (const statement of [
      'CREATE TABLE boxgate.mine (a text)',
      'CREATE TABLE public.mine (a text)',
      'CREATE SCHEMA mine',
      'CREATE FUNCTION boxgate.mine() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
      'CREATE OR REPLACE FUNCTION boxgate.all_boxes() RETURNS TABLE (box text) LANGUAGE sql AS $$ SELECT 1::text $$',
      'DROP FUNCTION boxgate.all_boxes()',
      'CREATE EXTENSION plpython3u',
      'CREATE ROLE mine',
      'ALTER SYSTEM SET fsync = off',
      'SET SESSION AUTHORIZATION postgres',
      'SET ROLE postgres',
      "SELECT pg_read_file('/etc/passwd')",
      'SELECT * FROM pg_authid',
      "COPY boxgate.schema_version TO PROGRAM 'cat'",
    ]) {
      // 25001: not in a transaction, refused before the right is looked at; 0A000, 22023, 58P01: not here at all.
      expect(['42501', '42P13', '25001', '0A000', '58P01', '22023'], statement).to.include(
        await refusal('alpha', statement),
      );
    }
  });

  it('calls no function that runs as the owner but these, each for a reason', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT p.proname AS name FROM pg_proc p
        WHERE p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) AND p.prosecdef
        ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name)).to.deep.equal(Object.values(runAsOwner).flat().sort());
  });

  it('K-07 learns nothing of a box that the transaction does not name from a function that runs as the caller', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT p.proname AS name FROM pg_proc p
        WHERE p.pronamespace = 'boxgate'::regnamespace AND NOT p.prosecdef AND p.provolatile <> 'i'
          AND p.prorettype <> 'trigger'::regtype AND has_function_privilege('boxgate_api', p.oid, 'EXECUTE') ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name)).to.deep.equal([...Object.keys(runAsCaller), ...askForNoBox].sort());
    const settings = `INSERT INTO boxgate.resource (box, kind, id, version, body)
                      VALUES ('alpha', 'Box', 'alpha', 1, '{"audit": {"retention": 7}}')`;
    for (const [name, parameters] of Object.entries(runAsCaller)) {
      const told = async (named: string, box: string): Promise<readonly unknown[]> => {
        const names = `SELECT set_config('boxgate.box', '${named}', true)`;
        return (await attempt('alpha', settings, names, `SELECT boxgate.${name}(${parameters(box)}) AS told`)).rows;
      };
      const nothing = await told('', 'gamma');
      expect(await told('alpha', 'alpha'), name).to.not.deep.equal(nothing);
      for (const named of ['', 'beta']) expect(await told(named, 'alpha'), name).to.deep.equal(nothing);
    }
  });

  it('is the only one that may call a function', async () => {
    const everybody = await owner.query(
      `SELECT p.proname FROM pg_proc p, aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) g
        WHERE p.pronamespace = 'boxgate'::regnamespace AND g.grantee = 0`,
    );
    expect(everybody.rows).to.deep.equal([]);
  });

  it('misleads no function of the owner by tables, functions or operators of its own', async () => {
    const { rows } = await attempt(
      'alpha',
      'CREATE TEMPORARY TABLE box (box text, config_version bigint)',
      "INSERT INTO pg_temp.box VALUES ('forged', 99)",
      'SET LOCAL search_path = pg_temp, boxgate',
      "SELECT * FROM boxgate.config_versions('{alpha,forged}')",
    );
    expect(rows).to.deep.equal([{ box: 'alpha', config_version: '1' }]);
  });

  it('stores and finds a session of each box under the same id by the hot functions, each its own', async () => {
    const check = (box: string) =>
      attempt(undefined, `SELECT * FROM boxgate.check_sessions(${String(bucket)}, '{${box}}', '{${id}}', NULL)`);
    for (const box of boxes) {
      await owner.query('UPDATE boxgate.session SET scope = box');
      expect((await check(box)).rows.map(({ scope }) => String(scope))).to.deep.equal([box]);
    }
    expect((await check('empty')).rows.map(({ version }) => String(version))).to.deep.equal(['null']);
  });
});
