import pg from 'pg';

/** Record of node-oidc-provider, which checks its expiry (`exp`) itself. */
type Payload = Record<string, unknown>;
type Row = { payload: Payload; consumed: number | null };

/** Storage of one of node-oidc-provider's models. */
export type Adapter = {
  upsert(id: string, payload: Payload, expiresIn?: number): Promise<void>;
  find(id: string): Promise<Payload | undefined>;
  findByUid(uid: string): Promise<Payload | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
};

/** The models that a code flow without refresh tokens needs, and what else each is looked up by. */
const indexes = {
  Session: 'uid',
  Interaction: undefined,
  Grant: undefined,
  AuthorizationCode: 'grant_id',
  AccessToken: 'grant_id',
} as const;

/**
 * Makes the tables, one for each model: none is larger than it must be, and no index but those that are asked. A
 * session is stored again by each authorization: there is room for it beside the old one (HOT).
 */
export async function createModelTables(pool: pg.Pool): Promise<void> {
  for (const [model, column] of Object.entries(indexes)) {
    const table = pg.escapeIdentifier(model);
    await pool.query(
      `create table ${table} (id text primary key, payload json not null, uid text, grant_id text,
         consumed integer, expires_at timestamptz) with (fillfactor = ${model === 'Session' ? 50 : 100})`,
    );
    if (column !== undefined) await pool.query(`create index on ${table} (${column})`);
  }
}

/** A careful adapter for Postgres: each operation is one prepared statement, which commits by itself. */
export function postgresAdapter(pool: pg.Pool): (model: string) => Adapter {
  return (model) => {
    const table = pg.escapeIdentifier(model);
    const run = (operation: keyof Adapter, text: string, values: unknown[]) =>
      pool.query<Row>({ name: `${model}.${operation}`, text, values });
    return {
      async upsert(id, payload, expiresIn = 0) {
        await run(
          'upsert',
          `insert into ${table} (id, payload, uid, grant_id, expires_at)
           values ($1, $2, $3, $4, now() + $5 * interval '1 second')
           on conflict (id) do update set payload = excluded.payload, uid = excluded.uid,
             grant_id = excluded.grant_id, expires_at = excluded.expires_at`,
          [id, payload, payload['uid'], payload['grantId'], expiresIn],
        );
      },
      async find(id) {
        return payloadOf(await run('find', `select payload, consumed from ${table} where id = $1`, [id]));
      },
      async findByUid(uid) {
        return payloadOf(await run('findByUid', `select payload, consumed from ${table} where uid = $1`, [uid]));
      },
      async consume(id) {
        const now = 'extract(epoch from now())::integer';
        await run('consume', `update ${table} set consumed = ${now} where id = $1`, [id]);
      },
      async destroy(id) {
        await run('destroy', `delete from ${table} where id = $1`, [id]);
      },
      async revokeByGrantId(grantId) {
        await run('revokeByGrantId', `delete from ${table} where grant_id = $1`, [grantId]);
      },
    };
  };
}

function payloadOf({ rows: [row] }: pg.QueryResult<Row>): Payload | undefined {
  return row === undefined || row.consumed === null ? row?.payload : { ...row.payload, consumed: row.consumed };
}
