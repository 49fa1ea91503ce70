import type pg from 'pg';

/**
 * Stores many sessions as a box of some months has them: issued a second apart, most of them short, some that live for
 * years; client `big` has half of them, `early` the first tenth of the rest, `rare` one in a thousand.
 */
export async function storeManySessions(owner: pg.Pool, count: number, now: number): Promise<void> {
  await owner.query(
    `INSERT INTO boxgate.session (box, id, version, expires_at, bucket, type, client, token_hash)
     SELECT 'default',
            (lpad(to_hex(issued), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
            1, to_timestamp(ends), CASE WHEN far THEN 1000000 + extract(year FROM to_timestamp(ends))::int * 12
                                             + extract(month FROM to_timestamp(ends))::int - 1
                                   ELSE (ends / 86400)::int END,
            'c',
            CASE WHEN n % 2 = 0 THEN 'big' WHEN n % 1000 = 1 THEN 'rare' WHEN n < $1::int / 10 THEN 'early'
                 ELSE 'c' || n % 50 END,
            sha256(n::text::bytea)
       FROM generate_series(1, $1::int) AS n,
            LATERAL (SELECT $2::bigint - ($1::int - n) * 1000::bigint AS issued) AS i,
            LATERAL (SELECT n % 10 = 3 AS far) AS f,
            LATERAL (SELECT ($2::bigint / 1000) + 60
                            + CASE WHEN far THEN (100 + n % 900) * 86400::bigint ELSE (n % 40) * 43200::bigint END AS ends) AS e`,
    [count, now],
  );
  await owner.query('ANALYZE boxgate.session');
}

/** Stores many clients `c000001`, `c000002` and so on, in that order. */
export async function storeManyClients(owner: pg.Pool, count: number): Promise<void> {
  await owner.query(
    `INSERT INTO boxgate.resource (box, kind, id, version, body, created_at)
     SELECT 'default', 'Client', 'c' || lpad(n::text, 6, '0'), 1,
            jsonb_build_object('resourceType', 'Client', 'id', 'c' || lpad(n::text, 6, '0')),
            now() + n * interval '1 millisecond'
       FROM generate_series(1, $1::int) AS n`,
    [count],
  );
  await owner.query('ANALYZE boxgate.resource');
}
